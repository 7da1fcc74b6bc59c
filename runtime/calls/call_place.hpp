// Where the program's calls lie in its files, for who can look up their lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice::runtime {

// CallPlace is a call's instruction, by its file and the address as the file counts; in a file of
// Python the address is the line.
struct CallPlace {
  std::string file;
  uint64_t address = 0;
  friend bool operator==(const CallPlace&, const CallPlace&) = default;
};

// CallPlaces is one call with those that led to it, the innermost first.
struct CallPlaces {
  std::string kernel;  // whose launch it is, mangled; its own host function is no place
  std::vector<CallPlace> frames;
  friend bool operator==(const CallPlaces&, const CallPlaces&) = default;
};

// A report's texts have such places behind the words for a call, in control characters that no
// other text of ours has: mark_of() writes them, replace_marks() puts what it is given in their
// place.
std::string mark_of(const CallPlaces& places);
std::string replace_marks(const std::string& text,
                          const std::function<std::string(const CallPlaces&)>& with);
std::string without_marks(const std::string& text);

}  // namespace sluice::runtime
