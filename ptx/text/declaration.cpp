#include <iterator>

#include <fmt/format.h>

#include "ptx/text/text.hpp"

namespace sluice::ptx::text {
namespace {

// InitialiserPrinter writes the flat list with one brace for each dimension, as ptxas demands.
// Elements at the end that the list does not hold are left out.
class InitialiserPrinter {
 public:
  InitialiserPrinter(std::string& out, const Variable& variable)
      : out_(out), elements_(variable.initialiser), extents_(variable.dimensions) {
    if (variable.vector_elements > 1) extents_.push_back(variable.vector_elements);
  }

  void print(size_t level = 0) {
    out_ += "{";
    bool innermost = level + 1 >= extents_.size();
    uint64_t extent = level < extents_.size() ? extents_[level] : elements_.size();
    for (uint64_t i = 0; i < extent && next_ < elements_.size(); ++i) {
      if (i != 0) out_ += ", ";
      if (innermost) {
        append(out_, elements_[next_++]);
      } else {
        print(level + 1);
      }
    }
    out_ += "}";
  }

 private:
  std::string& out_;
  const std::vector<Operand>& elements_;
  std::vector<uint64_t> extents_;
  size_t next_ = 0;
};

void append_word(std::string& out, std::string_view word) {
  if (!word.empty()) fmt::format_to(std::back_inserter(out), ".{} ", word);
}

void append_qualifiers(std::string& out, const Variable& variable) {
  append_word(out, variable.linkage);
  append_word(out, name(variable.space));
  if (!variable.attributes.empty()) append_attribute(out, variable.attributes);
  if (variable.alignment != 0) {
    fmt::format_to(std::back_inserter(out), ".align {} ", variable.alignment);
  }
  if (variable.vector_elements > 1) append_word(out, fmt::format("v{}", variable.vector_elements));
  append_word(out, name(variable.type));
  if (!variable.is_pointer) return;
  out += ".ptr ";
  append_word(out, name(variable.pointer_space));
  if (variable.pointer_alignment != 0) {
    fmt::format_to(std::back_inserter(out), ".align {} ", variable.pointer_alignment);
  }
}

// How the tokens of a directive are put together again.
bool is_list(std::string_view directive) {
  return directive != "loc" && directive != "file" && directive != "section" &&
         directive != "callprototype";
}
bool has_semicolon(std::string_view directive) {
  return directive == "pragma" || directive == "alias" || directive == "branchtargets" ||
         directive == "calltargets" || directive == "callprototype";
}

}  // namespace

void append(std::string& out, const Variable& variable) {
  append_qualifiers(out, variable);
  out += variable.name;
  if (variable.range_count) fmt::format_to(std::back_inserter(out), "<{}>", *variable.range_count);
  for (uint64_t extent : variable.dimensions) {
    out += extent == 0 ? "[]" : fmt::format("[{}]", extent);
  }
  if (variable.initialiser_has_braces) {
    out += " = ";
    InitialiserPrinter(out, variable).print();
  } else if (!variable.initialiser.empty()) {
    out += " = ";
    append(out, variable.initialiser.front());
  }
}

void append(std::string& out, const Directive& directive) {
  out += "." + directive.name;
  std::string_view separator = is_list(directive.name) ? ", " : " ";
  for (const std::string& argument : directive.arguments) {
    bool first = &argument == directive.arguments.data();
    // Debug data goes on a line of its own, so that no line grows without end.
    bool new_line = directive.name == "section" && !first && argument.starts_with(".b");
    out += new_line ? "\n" : first ? " " : argument == "," ? "" : separator;
    out += argument;
  }
  if (has_semicolon(directive.name)) out += ";";
}

void append_attribute(std::string& out, const std::vector<std::string>& attributes) {
  fmt::format_to(std::back_inserter(out), ".attribute(.{}) ", fmt::join(attributes, ", ."));
}

void indentation(std::string& out, int depth) {
  out.append(static_cast<size_t>(depth) * 2, ' ');
}

}  // namespace sluice::ptx::text
