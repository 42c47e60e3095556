"""Devices and their memory: what is chosen, what grows, and what the errors say."""

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from marrow import gpu
from marrow.errors import DeviceLostError, GpuError, GpuMemoryError, NoAdapterError, ValidationError
from marrow.gpu import drivers
from marrow.gpu.buffers import chunks, usage


def test_everybody_shares_the_best_device(device):
    assert gpu.Device.best() is device
    assert str(device.adapter) == str(gpu.adapters()[0]) or os.environ.get("MARROW_GPU")
    assert ("in software" in str(device)) == device.adapter.is_software


def test_adapters_are_chosen_by_name_or_number(device):
    names = [str(a) for a in gpu.adapters()]
    assert str(gpu.Device.best(0).adapter) == names[0]
    part = names[-1].split()[0]
    assert part in str(gpu.Device.best(part).adapter)
    with pytest.raises(NoAdapterError, match="no adapter has 'Voodoo'"):
        gpu.Device.best("Voodoo")
    with pytest.raises(NoAdapterError, match="no adapter number 99"):
        gpu.Device.best(99)


def test_no_adapter_says_what_to_install(monkeypatch):
    monkeypatch.setattr("marrow.gpu.device.find_adapters", list)
    with pytest.raises(NoAdapterError, match="mesa-vulkan-drivers"):
        gpu.Device.best(limits={})


def test_unknown_limit_and_too_high_limit_are_errors(device):
    with pytest.raises(ValidationError, match="max-bananas"):
        gpu.Device.best(limits={"max-bananas": 1})
    with pytest.raises(GpuError, match="gives no device"):
        gpu.Device.best(limits={"max-storage-buffers-per-shader-stage": 1 << 20})


def test_buffers_grow_and_keep_what_they_hold(device):
    buffer = gpu.Buffer.of(device, np.arange(10, dtype=np.float32))
    first = buffer.raw
    buffer.write(np.full(5, 7, np.float32), 40)
    assert buffer.raw is not first and buffer.version == 1
    np.testing.assert_array_equal(buffer.numpy(np.float32)[:15], [*range(10), *[7] * 5])
    later = buffer.later(12)
    buffer.write(np.zeros(3, np.float32))
    np.testing.assert_array_equal(later.numpy(np.float32), [0, 1, 2])  # as it was when asked for


def test_as_many_rows_are_read_as_fit(device):
    """A buffer may have more room than whole rows take."""
    told = np.arange(14, dtype=np.float32)
    buffer = gpu.Buffer.of(device, told)
    rows = told[:12].reshape(4, 3)
    np.testing.assert_array_equal(buffer.numpy(np.float32, (-1, 3)), rows)
    np.testing.assert_array_equal(buffer.numpy(np.float32, [2, -1], 8), told[2:].reshape(2, 6))
    np.testing.assert_array_equal(buffer.later().numpy(np.float32, (-1, 3)), rows)
    np.testing.assert_array_equal(buffer.numpy("u2", -1)[:2], told.view("u2")[:2])
    assert buffer.numpy(np.float32, (0, 3)).shape == buffer.numpy(np.float32, (-1, 3), 56).shape == (0, 3)
    pages = gpu.Pages(device, 32, dtype=np.float32)
    pages.resize(2)
    assert pages.numpy(np.float32, (-1, 3)).shape == (2, 2, 3)
    for dtype, shape in (
        ("f4", (-1, -1)), ("f4", (3, -2)), ("f4", (5, 3)), ("f4", 2.5), ("no type", 3), ("f4", ("a", 3)), ("f4", 1 << 62),
    ):  # fmt: skip
        for reader in (buffer.numpy, buffer.later().numpy, pages.numpy):
            if reader == pages.numpy and np.ndim(shape) == 0:
                continue
            with pytest.raises(ValidationError):
                reader(dtype, shape)


def test_odd_sizes_are_filled_up(device):
    assert gpu.Buffer.of(device, np.arange(5, dtype=np.uint8)).size == 8
    assert gpu.Buffer(device).size == 4
    assert gpu.Buffer(device).later(0).numpy().shape == (0,)


def test_pages_hold_what_one_buffer_cannot(small):
    pages = gpu.Pages(small, 20_000, label="rows")
    pages.resize(8)
    assert [(a, b) for a, b, _ in pages] == [(0, 3), (3, 6), (6, 8)]
    rows = np.arange(8 * 5000, dtype=np.float32).reshape(8, 5000)
    for a, b, buffer in pages:
        small.write(buffer.raw, rows[a:b])
    np.testing.assert_array_equal(pages.numpy(np.float32, (5000,)), rows)
    with pytest.raises(GpuError, match="fills 3 buffers"):
        _ = pages.raw
    with pytest.raises(GpuMemoryError, match=r"rows: one takes 70,000 bytes, more than the 65,536"):
        gpu.Pages(small, 70_000, label="rows")


def test_chunks_cover_everything_once():
    assert list(chunks(7, 3)) == [(0, 3), (3, 6), (6, 7)]
    assert list(chunks(0, 3)) == []


def test_too_much_memory_is_an_error_at_once(device):
    with pytest.raises(GpuMemoryError, match="allows at most"):
        device.create_buffer(1 << 50, usage())


def test_software_does_not_take_more_than_the_machine_has(device, monkeypatch):
    software = gpu.Device(device.raw, dataclasses.replace(device.adapter, type="CPU"))
    monkeypatch.setattr("marrow.gpu.device._free_memory", lambda: 1 << 20)
    with pytest.raises(GpuMemoryError, match="1,048,576 bytes are free"):
        software.create_buffer(1 << 27, usage())


def test_a_lost_device_is_an_error_and_the_next_one_works(device):
    mine = gpu.Device.best(limits={"max-bind-groups": 4})
    buffer = gpu.Buffer(mine, 16)
    later = buffer.later()
    mine.raw.destroy()  # as a driver does, behind our back
    with pytest.raises(DeviceLostError, match="make a new"):
        buffer.numpy()
    with pytest.raises(DeviceLostError):
        later.numpy()
    assert mine.is_lost and "lost" in repr(mine)
    assert not gpu.Device.best().is_lost


def test_bad_shaders_are_errors_with_their_place(device):
    with pytest.raises(GpuError, match="compiling the shader main"):
        device.compute_pipeline("fn main( {")


def test_foreign_devices_are_checked():
    with pytest.raises(ValidationError, match=r"expected a wgpu\.GPUDevice"):
        gpu.Device.of("cuda:0")


def test_half_installed_drivers_are_found(device, tmp_path):
    """As in a container with half of NVIDIA's driver: the loader finds none, the library would do."""
    icds = [p for p in ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d") if os.path.isdir(p)]
    files = [os.path.join(p, f) for p in icds for f in os.listdir(p) if "lvp" in f]
    if not files:
        from surroundings import missing

        missing("Mesa's lavapipe is not installed: apt-get install mesa-vulkan-drivers")
    with open(files[0]) as file:
        library = json.load(file)["ICD"]["library_path"]
    code = f"""
import os
from marrow.gpu import drivers
found = [a for a in drivers.find_adapters() if a.info["backend_type"] == "Vulkan"]
assert not found, found
drivers.NVIDIA = {library!r}
del os.environ["VK_DRIVER_FILES"]
seen = []
real = drivers._enumerate
def enumerate_once(wgpu):
    seen.append(1)
    return [] if len(seen) == 1 else real(wgpu)
drivers._enumerate = enumerate_once
found = drivers.find_adapters()
assert any(a.info["backend_type"] == "Vulkan" for a in found), found
print(os.environ["VK_DRIVER_FILES"])
"""
    environment = {
        **os.environ,
        "VK_DRIVER_FILES": str(tmp_path / "none.json"),
        "MARROW_CACHE": str(tmp_path),
    }
    environment.pop("VK_ICD_FILENAMES", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "marrow-cache" / "nvidia_icd.json")


def test_variables_of_the_user_are_left_alone(monkeypatch):
    monkeypatch.setenv("VK_ICD_FILENAMES", "mine.json")
    assert drivers._point_to("libEGL_nvidia.so.0", alone=True) == {}
