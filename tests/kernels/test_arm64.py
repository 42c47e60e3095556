"""Kernels for aarch64, under emulation, against those of this machine: the same bits. Collected where the tools are."""

import replay
from arm64 import Recorder, build, emulated

from compiling import bits, watch
from marrow.kernels import catalogue


def test_kernels_for_arm_give_the_same_bits(tmp_path, monkeypatch):
    recorder = Recorder(each=3)
    watch(monkeypatch, recorder)
    replay.few()
    replay.crowd(6, 2)
    replay.sampled({"patchwork": replay.patchwork()})
    monkeypatch.undo()
    used = {call.kernel.name for call in recorder.calls}
    assert {"run_programs", "update_graph", "sample_tracks", "to_model", "dual_quaternions"} < used
    program = build([k for k in catalogue.kernels() if k.name in used], tmp_path)
    for call in recorder.calls:
        arrays, returned = emulated(program, call, tmp_path)
        assert returned == call.returned, call.kernel.name
        for name, array in arrays.items():
            assert bits_of(array) == bits_of(call.after[name]), (call.kernel.name, name)


def bits_of(array):
    """Of records, those of their fields: what lies between these is nobody's."""
    return [bits(array[name]) for name in array.dtype.names] if array.dtype.names else bits(array)
