// Running the toolkit's ptxas, for tests.
#pragma once

#include <map>
#include <string>

namespace sluice::megakernel::testing {

struct Cost {
  int registers = 0;
  int stack = 0;
  int spills = 0;  // bytes stored
};

// assemble() returns what ptxas says of each entry of a PTX file, and adds a test failure where it
// refuses the file.
std::map<std::string, Cost> assemble(const std::string& file, unsigned architecture);

// assemble_text() does the same with a text, by way of a temporary file called `name`, which stays
// where a test has failed.
std::map<std::string, Cost> assemble_text(const std::string& text, const std::string& name,
                                          unsigned architecture);

}  // namespace sluice::megakernel::testing
