"""Large files are read by columns: memory grows with the numbers, not with the text."""

import subprocess
import sys

import numpy as np
import pytest

ROWS = 200_000
MEASURE = """
import resource
from steadyboost.io import read_table
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
open("small.csv", "w").write("a,color,y\\n1.5,red,u\\n2.5,blue,v\\n")
read_table("small.csv", target="y")
before = peak()
table = read_table("large.csv", target="y")
print(table.found.rows, (peak() - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is the system's own")
def test_memory_stays_near_the_size_of_the_numbers():
    rng = np.random.default_rng(0)
    block = [
        ",".join(
            [
                *(f"{x:.5f}" for x in row),
                "red" if row[0] > 0 else "blue",
                "u" if row[1] > 0 else "v",
            ]
        )
        for row in rng.normal(size=(1000, 8))
    ]
    names = ",".join([*(f"x{i}" for i in range(8)), "color", "y"])
    with open("large.csv", "w") as file:
        file.write("\n".join([names, *block * (ROWS // 1000)]))
    told = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True)
    rows, megabytes = map(int, told.stdout.split())
    assert rows == ROWS
    assert megabytes < 150  # the file has 16, its numbers take 13
