"""A toolkit of CUDA 12 for clang, put together from its wheels, and clang's options for nvcc's."""
import pathlib
import shutil
import stat

# clang 19 writes fatbinary's options as CUDA 12 has them; the wheels have no fatbinary, and CUDA 13's takes others.
# Programs are of PTX alone: the CPU device has no use for machine code, and ptxas refuses some of clang's PTX (the
# address of a function that a vtable names and nobody defines).
FATBINARY = '''#!/usr/bin/env python3
import os, re, sys
words = []
for word in sys.argv[1:]:
    image = re.match(r"--?image=profile=(sm|compute)_(\\d+)\\w?,file=(.*)", word)
    if not image:
        words.append(word)
    elif image[1] == "compute":
        words.append(f"--image3=kind=ptx,sm={image[2]},file={image[3]}")
os.execv("PATH", ["fatbinary", *words])
'''
PTXAS = '''#!/usr/bin/env python3
import sys
open(sys.argv[sys.argv.index("--output-file") + 1], "w").close()
'''
HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["cuda_runtime", "cuda_nvcc", "cuda_cccl", "curand"]


def toolkit(wheels, folder):
    """Links what clang needs from `wheels` (the folder nvidia/ that pip makes) into folder."""
    for part in PARTS:
        for file in (wheels / part / "include").rglob("*"):
            linked = folder / "include" / file.relative_to(wheels / part / "include")
            linked.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file() and not linked.exists():
                linked.symlink_to(file)
    runtime = "cuda_runtime/lib/libcudart.so.12"
    places = {"nvvm/libdevice": "cuda_nvcc/nvvm/libdevice",
              "lib/libcudart.so.12": runtime, "lib/libcudart.so": runtime}
    for place, source in places.items():
        linked = folder / place
        linked.parent.mkdir(parents=True, exist_ok=True)
        if not linked.exists():
            linked.symlink_to(wheels / source)
    real = pathlib.Path(shutil.which("nvcc")).resolve().parent / "fatbinary"
    for name, text in (("fatbinary", FATBINARY.replace("PATH", str(real))), ("ptxas", PTXAS)):
        wrapper = folder / "bin" / name
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        wrapper.unlink(missing_ok=True)
        wrapper.write_text(text)
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return folder


def clang_command(words, folder, output):
    """nvcc's `words` for clang. What is not known to clang stays, and clang says so."""
    # As a system's folder too: what --cuda-path gives comes after /usr/local/include, where CUDA 13's may lie.
    made = ["clang++-19", "-isystem", f"{folder}/include", f"--cuda-path={folder}", "--cuda-gpu-arch=sm_75",
            "-include", str(HERE / "as_nvcc.h"), "--cuda-include-ptx=all", "-Wno-unknown-cuda-version",
            f"-L{folder}/lib", "-lcudart"]
    at = iter(words[1:])
    for word in at:
        if word in ("-cudart", "-gencode"):
            next(at)
        elif word == "-o":
            next(at)
            made += ["-o", str(output)]
        elif word == "--default-stream":
            made.append(f"-fgpu-default-stream={next(at)}")
        elif word.startswith("-Xcompiler="):
            made += word.split("=", 1)[1].split(",")
        elif word == "-fmad=false":
            made.append("-ffp-contract=off")
        elif word not in ("-lineinfo", "--extended-lambda") and not word.startswith("-arch="):
            made.append(word)
    return made
