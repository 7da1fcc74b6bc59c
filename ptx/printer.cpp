#include "ptx/printer.hpp"

#include <iterator>

#include <fmt/format.h>

#include "ptx/text/text.hpp"

namespace sluice::ptx {
namespace {

using text::indentation;

void append_block(std::string& out, const Block& block, int depth);

void append_statement(std::string& out, const Statement& statement, int depth) {
  if (const auto* block = std::get_if<Block>(&statement)) {
    append_block(out, *block, depth);
    return;
  }
  if (const auto* label = std::get_if<Label>(&statement)) {
    out += label->name + ":\n";
    return;
  }
  indentation(out, depth);
  if (const auto* instruction = std::get_if<Instruction>(&statement)) {
    text::append(out, *instruction);
  } else if (const auto* variable = std::get_if<Variable>(&statement)) {
    text::append(out, *variable);
    out += ";";
  } else {
    text::append(out, std::get<Directive>(statement));
  }
  out += "\n";
}

void append_block(std::string& out, const Block& block, int depth) {
  indentation(out, depth);
  out += "{\n";
  for (const Statement& statement : block.statements)
    append_statement(out, statement, depth + 1);
  indentation(out, depth);
  out += "}\n";
}

void append_parameters(std::string& out, const std::vector<Variable>& parameters) {
  out += "(";
  for (const Variable& parameter : parameters) {
    out += &parameter == parameters.data() ? "\n    " : ",\n    ";
    text::append(out, parameter);
  }
  out += ")";
}

void append_function(std::string& out, const Function& function) {
  if (!function.linkage.empty()) out += "." + function.linkage + " ";
  out += function.is_entry ? ".entry " : ".func ";
  // .attribute stands before the name, all others after the parameters.
  for (const Directive& attribute : function.attributes) {
    if (attribute.name == "attribute") text::append_attribute(out, attribute.arguments);
  }
  if (!function.results.empty()) {
    append_parameters(out, function.results);
    out += " ";
  }
  out += function.name;
  append_parameters(out, function.parameters);
  for (const Directive& attribute : function.attributes) {
    if (attribute.name == "attribute") continue;
    out += "\n";
    text::append(out, attribute);
  }
  if (!function.is_definition) {
    out += ";\n";
    return;
  }
  out += "\n";
  append_block(out, function.body, 0);
}

void append_item(std::string& out, const ModuleItem& item) {
  if (const auto* function = std::get_if<Function>(&item)) {
    out += "\n";
    append_function(out, *function);
    return;
  }
  if (const auto* variable = std::get_if<Variable>(&item)) {
    text::append(out, *variable);
    out += ";\n";
    return;
  }
  text::append(out, std::get<Directive>(item));
  out += "\n";
}

}  // namespace

std::string print(const Instruction& instruction) {
  std::string out;
  text::append(out, instruction);
  return out;
}

std::string print(const Module& module) {
  std::string out;
  fmt::format_to(std::back_inserter(out), ".version {}.{}\n.target {}\n.address_size {}\n\n",
                 module.version_major, module.version_minor, fmt::join(module.target, ", "),
                 module.address_size);
  for (const ModuleItem& item : module.items)
    append_item(out, item);
  return out;
}

}  // namespace sluice::ptx
