// A picture that moves is a page of its own, opened where its still is. One at a time: a browser draws only so many.
(function () {
  function open(box) {
    document.querySelectorAll(".moving.open").forEach(close);
    var frame = document.createElement("iframe");
    frame.title = box.dataset.title;
    frame.allow = "fullscreen; gamepad";
    frame.src = box.dataset.page;
    box.still = Array.from(box.childNodes);
    box.replaceChildren(frame);
    box.classList.add("open");
    frame.focus();
  }
  function close(box) {
    box.replaceChildren.apply(box, box.still);
    box.classList.remove("open");
  }
  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest(".moving > button");
    if (button) open(button.parentElement);
  });
})();
