// Browsers start no workers for pages that come from a disk. This stands in for one, in a hidden frame, so that the search works there.
(function () {
  if (location.protocol !== "file:") return;
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      const own = new URL(address, location.href);
      const load = (script) =>
        new Promise((done, failed) => {
          const element = inside.document.createElement("script");
          element.onload = done;
          element.onerror = failed;
          element.src = new URL(script, own);
          inside.document.body.append(element);
        });
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inside.importScripts = (...scripts) =>
        scripts.reduce((before, script) => before.then(() => load(script)), Promise.resolve());
      load(own).then(() => {
        this.waiting.forEach((data) => this.tell(data));
        this.waiting = null;
      });
    }
    tell(data) {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.tell(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
})();
