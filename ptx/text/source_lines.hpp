// From lines of the PTX to lines of the CUDA source, where nvcc was given -lineinfo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::ptx {

// SourcePlace is a line of a file; `inlined_in` is where the function that holds it was called,
// line 0 where it was not inlined.
struct SourcePlace {
  std::string file;  // as nvcc wrote it
  uint32_t line = 0;
  std::string inlined_in_file;
  uint32_t inlined_in_line = 0;

  // The line that its programmer knows: of the kernel's own text rather than of a header of the
  // toolkit that was inlined into it.
  const std::string& user_file() const { return inlined_in_line != 0 ? inlined_in_file : file; }
  uint32_t user_line() const { return inlined_in_line != 0 ? inlined_in_line : line; }
};

// SourceLines maps one kernel's PTX lines. Source: PTX ISA, "Debugging Directives: .loc".
class SourceLines {
 public:
  SourceLines() = default;
  SourceLines(const ptx::Module& module, const ptx::Function& kernel);

  bool empty() const { return places_.empty(); }
  std::optional<SourcePlace> at(uint32_t ptx_line) const;
  // file() is the file of the kernel's first line; empty where nothing is known.
  const std::string& file() const { return file_; }

  // named() puts "FILE:LINE (PTX line N)" for each "PTX line N" of a sentence. The lines named, in
  // order and once each, are added to `places`.
  std::string named(const std::string& sentence, std::vector<SourcePlace>& places) const;

 private:
  std::map<uint32_t, SourcePlace> places_;  // by PTX line
  std::string file_;
};

// place_text() is "stencil.cu:13", the file without its folders.
std::string place_text(const SourcePlace& place);

// SourceFiles reads lines of files, each file once. Nothing where a file cannot be read.
class SourceFiles {
 public:
  std::optional<std::string> line(const std::string& file, uint32_t line);
  const std::string& text(const std::string& file);

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace sluice::ptx
