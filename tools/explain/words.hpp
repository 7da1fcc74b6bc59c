// Sentences about what the blocks of a launch read and write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dim3.hpp"
#include "tools/explain/access_picture.hpp"

namespace sluice::tools {

// NamedNumber is a scalar argument with its value in this launch.
struct NamedNumber {
  std::string name;
  uint64_t value = 0;
};

// AccessVerb is "read"/"reads" and so on, as the access may or must happen.
struct AccessVerb {
  std::string plural;    // "read", "may write": of several blocks
  std::string singular;  // "reads", "may write": of one
};

// AccessWords is what a sentence about one access needs beside its picture.
struct AccessWords {
  AccessVerb verb;
  Dim3 grid;
  uint32_t element_bytes = 0;        // 0: told in bytes
  std::vector<NamedNumber> numbers;  // that the length of a row may be named by
};

// describe() says in a few sentences what blocks touch; every number in it is of this launch.
std::string describe(const AccessPicture& picture, const AccessWords& words);

// wrapped() breaks text into lines of at most `width` characters, each after `indent` blanks.
std::string wrapped(const std::string& text, size_t indent, size_t width = 100);

}  // namespace sluice::tools
