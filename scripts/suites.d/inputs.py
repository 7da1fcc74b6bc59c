#!/usr/bin/env python3
"""Makes input files for those Rodinia programs that read some, in FOLDER/PROGRAM:  inputs.py FOLDER

The values are ours, from a seeded generator, so every run and every machine has the same ones.
"""
import pathlib
import random
import sys


def floats(count, low, high):
    return "\n".join(f"{random.uniform(low, high):.6f}" for _ in range(count)) + "\n"


def graph(nodes=65536, degree=6):
    """Nodes as first edge and count, the source, then edges as end and cost."""
    lines = [str(nodes), *(f"{node * degree} {degree}" for node in range(nodes)), "", "0", "",
             str(nodes * degree)]
    lines += [f"{random.randrange(nodes)} {random.randint(1, 10)}" for _ in range(nodes * degree)]
    return "\n".join(lines) + "\n"


def mesh(width=64, height=64):
    """Quadrilaterals, each with its area and, by side, a neighbour (-1 a wall, -2 far away) and a normal."""
    lines = [str(width * height)]
    for y in range(height):
        for x in range(width):
            line = ["1.0"]
            for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                column, row = x + across, y + down
                inside = 0 <= column < width and 0 <= row < height
                beside = row * width + column + 1 if inside else -1 if down else -2
                line += [str(beside), f"{across}.0", f"{down}.0", "0.0"]
            lines.append(" ".join(line))
    return "\n".join(lines) + "\n"


def storms(records):
    """Records of 48 characters with a latitude at 28 and a longitude at 33."""
    return "".join(f"{number:<28}{random.uniform(7, 64):5.1f}{random.uniform(0, 359):5.1f}{'':10}\n"
                   for number in range(records))


def image(width=502, height=458):
    points = " \n".join(str(random.randrange(1, 256)) for _ in range(width * height))
    return f"P2\n# made\n{width} {height}\n255\n{points}\n"


def main():
    random.seed(1)
    folder = pathlib.Path(sys.argv[1])
    flow = mesh()
    files = {
        "bfs/graph65536.txt": graph(),
        "b+tree/mil.txt": "\n".join(map(str, [65536, *range(1, 65537)])) + "\n",
        "b+tree/command.txt": "j 600 300\nk 1000\n",
        **{f"{name}/mesh.txt": flow for name in ("cfd", "cfd_double", "pre_cfd", "pre_cfd_double")},
        "hotspot/temp_512": floats(512 * 512, 320, 345),
        "hotspot/power_512": floats(512 * 512, 0, 0.001),
        "hotspot3D/temp_512x8": floats(512 * 512 * 8, 320, 345),
        "hotspot3D/power_512x8": floats(512 * 512 * 8, 0, 0.001),
        "nn/filelist": "".join(f"storms_{number}.db\n" for number in range(4)),
        **{f"nn/storms_{number}.db": storms(10691) for number in range(4)},
        "srad_v1/data/srad/image.pgm": image(),
        "myocyte/data/myocyte/y.txt": floats(91, 0.001, 0.3),
        "myocyte/data/myocyte/params.txt": floats(18, 0.1, 1),
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    picture = folder / "dwt2d/data/dwt2d/rgb.bmp"
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_bytes(random.randbytes(1024 * 1024 * 3))


if __name__ == "__main__":
    main()
