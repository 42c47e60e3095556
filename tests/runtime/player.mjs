// Plays a recording (see tests/runtime_replays.py) in the web runtime, and answers with numbers over all bytes of results.
function hashed(array) {
  const raw = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let words;
  if (raw.byteOffset % 4 === 0 && raw.length % 4 === 0) words = new Uint32Array(raw.buffer, raw.byteOffset, raw.length / 4);
  else {
    const whole = new Uint8Array(Math.ceil(raw.length / 4) * 4);
    whole.set(raw);
    words = new Uint32Array(whole.buffer);
  }
  let sum = 0;
  for (let i = 0; i < words.length; i++) sum = (sum + Math.imul(words[i] ^ (words[i] >>> 15), Math.imul(2 * i + 1, 0x9e3779b1))) | 0;
  return (sum >>> 0).toString(16).padStart(8, "0");
}

const KINDS = ["event", "state_entered", "state_left", "transition_started", "transition_ended", "slot_ended", "event_ended", "event_inside"];

function eventColumns(crowd) {
  const { character } = crowd;
  const events = crowd.events;
  const numbers = (f) => Int32Array.from(events, f);
  const ofClips = (e) => e.kind === "event" || e.kind === "event_ended" || e.kind === "event_inside";
  const machine = (e) => character.machines.findIndex((m) => m.name === e.source);
  const clip = (name) => character.clips.findIndex((c) => c.name === name) + 1;
  return [
    numbers((e) => e.instance), numbers((e) => KINDS.indexOf(e.kind)),
    numbers((e) => (ofClips(e) ? character.events.indexOf(e.name) : e.kind === "slot_ended" ? clip(e.name) : character.machines[machine(e)].states.indexOf(e.name))),
    numbers((e) => (ofClips(e) ? clip(e.source) : e.kind === "slot_ended" ? character.slots.indexOf(e.source) : machine(e))),
    Float32Array.from(events, (e) => e.weight), Float64Array.from(events, (e) => e.time),
  ];
}

function groundOf(engine, given) {
  if (given.field) return engine.heightField(given.field.flat(), given.field.length, given.field[0].length, given.spacing, given.origin);
  if (given.positions) return engine.groundMesh(given.positions.flat(), given.triangles.flat());
  if (given.asked !== undefined) return (points) => Float64Array.from({ length: points.length / 3 }, (_, k) => given.asked + 0.05 * points[3 * k]);
  return given.height ?? given.heights ?? null;
}

export function play(character, count, steps) {
  const crowd = character.create(count);
  const found = [];
  let saved = null;
  for (const [what, ...given] of steps) {
    if (what === "set") crowd.set(given[0], given[1]);
    else if (what === "trigger") crowd.trigger(given[0], given[1]);
    else if (what === "slot") crowd.slot(given[0]).play(given[1], { queue: given[2], loop: given[3], instances: given[4] });
    else if (what === "slot_stop") crowd.slot(given[0]).stop({ fade: given[1], instances: given[2] });
    else if (what === "play") crowd.play(given[0], { fade: given[1], loop: given[2], speed: given[3], start: given[4], instances: given[5] });
    else if (what === "montage") crowd.montage(given[0]).play(given[1], { instances: given[2] });
    else if (what === "jump") crowd.montage(given[0]).jumpTo(given[1], { instances: given[2] });
    else if (what === "next") crowd.montage(given[0]).setNext(given[1], given[2], { instances: given[3] });
    else if (what === "save") crowd.savePose(given[0], given[1]);
    else if (what === "add") crowd.add(given[0]);
    else if (what === "remove") crowd.remove(given[0]);
    else if (what === "reset") crowd.reset(given[0]);
    else if (what === "every") crowd.setUpdateEvery(given[0]);
    else if (what === "speed") crowd.setSpeed(given[0]);
    else if (what === "root") crowd.setRoot({ translation: given[0], rotation: given[1], instances: given[2] });
    else if (what === "override") crowd.override(given[0], { rotation: given[1]?.flat() ?? null, translation: given[2]?.flat() ?? null, weight: given[3] });
    else if (what === "ground") crowd.setGround(groundOf(crowd.engine, given[0]));
    else if (what === "spring") crowd.springs(given[0]).set(given[1]);
    else if (what === "wind") crowd.setWind(given[0]);
    else if (what === "exact") crowd.setExactSprings(given[0]);
    else if (what === "springs_reset") crowd.resetSprings();
    else if (what === "snapshot") saved = crowd.snapshot();
    else if (what === "restore") crowd.restore(saved);
    else if (what === "update") crowd.update(given[0]);
    else if (what === "glance") crowd.matrices;
    else if (what === "look") {
      const results = [crowd.matrices.slice(), crowd.modelMatrices.slice(), crowd.morphs, crowd.root.slice(), crowd.travel.slice()];
      const states = character.machines.filter((m) => m.states.length).map((m) => crowd.states(m.path).join(","));
      found.push(`${results.map(hashed).join(" ")} ${eventColumns(crowd).map(hashed).join(" ")} ${states.join("|")}`);
    } else throw new Error(what);
  }
  crowd.dispose();
  return found;
}
