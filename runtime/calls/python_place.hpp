// Where a program in Python made the call that is being handled.
#pragma once

#include <string>

namespace sluice::runtime {

// PythonPlace is a line of a Python file. It lives as long as the process.
struct PythonPlace {
  std::string file, function;
  int line = 0;
};

// python_place() is the innermost line that is of no installed package; null where the calling
// thread runs no Python. It takes the interpreter's lock, so that its callers must hold none of
// ours. Thread-safe.
const PythonPlace* python_place();

// note_launch() is for a launch of a kernel from such a place, null: from elsewhere. launched_at()
// is where all of them were launched; null where that is not one place. Thread-safe.
void note_launch(const std::string& kernel, const PythonPlace* place);
const PythonPlace* launched_at(const std::string& kernel);

}  // namespace sluice::runtime
