"""python tools/cuda_wheel.py LIBRARY PLATFORM FOLDER: packs the library with CUDA as the wheel of norch-cuda.

The wheel puts norch/libnorch_cuda-VERSION.so beside the library of norch, which prefers that of its own version.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def main(library: str, platform: str, folder: str) -> None:
    """Write the wheel, and print its path."""
    found: dict[str, str] = {}
    exec((Path(__file__).resolve().parents[1] / "norch" / "version.py").read_text(), found)
    version = found["release"]
    info = f"norch_cuda-{version}.dist-info"
    tag = f"py3-none-{platform}"
    files = {
        f"norch/libnorch_cuda-{version}.so": Path(library).read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: norch-cuda\nVersion: {version}\nLicense: MIT\n"
        f"Summary: norch's library with CUDA\nRequires-Python: >=3.9\nRequires-Dist: norch=={version}\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: norch\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    record = f"{info}/RECORD"
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    path = Path(folder, f"norch_cuda-{version}-{tag}.whl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
