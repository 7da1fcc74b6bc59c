// A fault of the program, as every check tells of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::runtime {

// Checks are the kinds of faults that are looked for.
struct Checks {
  bool races = true;        // between streams, and between the blocks of a launch
  bool memory = true;       // accesses beyond an allocation
  bool init = true;         // reads of what nothing wrote
  std::string report = {};  // the file that they are added to; empty: they go to the log
  // Launches whose bytes are not known exactly may run traced, one block after the other.
  bool traces = true;
};

struct Fault {
  const char* kind = "";  // the member of Checks
  const char* rule = "";  // what of that kind: "race-between-blocks"
  bool is_certain = true;
  std::string kernel;                // or the driver's function: for people
  std::string message;               // one sentence
  std::vector<std::string> details;  // who did what
  std::string site;                  // the call in the program: "main in two_streams", with a mark
  std::string file;                  // the line of the kernel's source; empty: not known
  uint32_t line = 0;
};

}  // namespace sluice::runtime
