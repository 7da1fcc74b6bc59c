#include "tools/explain/signature.hpp"

#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <regex>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "base/terminal/fitted_name.hpp"

namespace sluice::tools {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// split() cuts at the commas that stand in no bracket.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : list) {
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  part = trimmed(part);
  if (!parts.empty() || (!part.empty() && part != "void")) parts.push_back(part);
  return parts;
}

// as_written() turns the demangler's "float const*" into "const float *".
std::string as_written(const std::string& type) {
  const size_t star = type.find_last_not_of('*') + 1;
  std::string base = type.substr(0, star);
  const std::string stars = type.substr(star);
  constexpr std::string_view constant = " const";
  if (base.ends_with(constant)) base = "const " + base.substr(0, base.size() - constant.size());
  return stars.empty() ? base : base + " " + stars;
}

// without_comments() also turns line ends into blanks.
std::string without_comments(const std::string& source) {
  static const std::regex comments(R"(//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)");
  static const std::regex blanks(R"(\s+)");
  return std::regex_replace(std::regex_replace(source, comments, " "), blanks, " ");
}

// parameter_of() takes "const float* __restrict__ in = nullptr" apart.
KernelParameter parameter_of(std::string text) {
  static const std::regex noise(R"(\b(__restrict__|__restrict|__grid_constant__)\b)");
  text = trimmed(std::regex_replace(text.substr(0, text.find('=')), noise, " "));
  size_t begin = text.size();
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                       text[begin - 1] == '_')) {
    --begin;
  }
  KernelParameter parameter{trimmed(text.substr(0, begin)), text.substr(begin)};
  const size_t base = parameter.type.find_last_not_of("* ") + 1;
  std::string stars;
  for (const char c : parameter.type.substr(base))
    if (c == '*') stars += c;
  parameter.type = parameter.type.substr(0, base) + (stars.empty() ? "" : " " + stars);
  return parameter;
}

std::string base_name(const std::string& name) {
  const std::string untemplated = name.substr(0, name.find('<'));
  const size_t scope = untemplated.rfind("::");
  return scope == std::string::npos ? untemplated : untemplated.substr(scope + 2);
}

// list_at() is the text between the parenthesis at `open` and its partner.
std::optional<std::string> list_at(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return text.substr(open + 1, at - open - 1);
  }
  return std::nullopt;
}

}  // namespace

std::string KernelSignatureText::declaration() const {
  if (!has_types) return name;
  std::string list;
  for (const KernelParameter& parameter : parameters) {
    const bool joined = parameter.name.empty() || parameter.is_pointer();
    list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", parameter.type, joined ? "" : " ",
                        parameter.name);
  }
  return fmt::format("{}({})", name, list);
}

std::string KernelSignatureText::argument(size_t number) const {
  if (number >= parameters.size()) return fmt::format("argument {}", number);
  const KernelParameter& parameter = parameters[number];
  if (!parameter.name.empty()) return parameter.name;
  return fmt::format("argument {} ({})", number, parameter.type);
}

void KernelSignatureText::shorten(size_t width) {
  if (width == any_width) return;
  name = fitted(std::move(name), width * 2 / 5);
  for (KernelParameter& parameter : parameters)
    parameter.type = fitted(std::move(parameter.type), width * 2 / 5);
}

KernelSignatureText signature_of(const std::string& kernel) {
  KernelSignatureText signature;
  const std::string declaration = demangled(kernel);
  const size_t list = parameter_list_begin(declaration);
  signature.name = declaration.substr(0, list);
  if (list == std::string::npos) return signature;
  signature.has_types = true;
  for (const std::string& type :
       split(declaration.substr(list + 1, declaration.size() - list - 2))) {
    signature.parameters.push_back({as_written(type), {}});
  }
  return signature;
}

bool take_source(KernelSignatureText& signature, const std::string& source, size_t count) {
  const std::string text = without_comments(source);
  const std::string name = base_name(signature.name);
  std::vector<KernelParameter> found;
  size_t kernels = 0;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t open = text.find_first_not_of(' ', at + name.size());
    if (open == std::string::npos || text[open] != '(') continue;
    const size_t end_before = text.find_last_of(";{}", at);
    const size_t start = end_before == std::string::npos ? 0 : end_before + 1;
    const std::string before = text.substr(start, at - start);
    const bool whole_word =
        at == 0 ||
        (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
    if (!whole_word || before.find("__global__") == std::string::npos) continue;
    const std::optional<std::string> list = list_at(text, open);
    if (!list) continue;
    std::vector<KernelParameter> parameters;
    for (const std::string& part : split(*list))
      parameters.push_back(parameter_of(part));
    if (parameters.size() != count) continue;
    ++kernels;
    found = std::move(parameters);
  }
  if (kernels != 1) return false;
  for (size_t i = 0; i < count && signature.has_types; ++i) {
    // The mangled name knows template arguments, the source does not.
    if (i < signature.parameters.size()) found[i].type = signature.parameters[i].type;
  }
  signature.parameters = std::move(found);
  signature.has_types = true;
  return true;
}

std::string element_name(const std::string& pointer_type) {
  if (!pointer_type.ends_with('*')) return {};
  std::string type = trimmed(pointer_type.substr(0, pointer_type.size() - 1));
  static const std::regex qualifiers(R"(\b(const|volatile|struct)\b)");
  return trimmed(std::regex_replace(type, qualifiers, " "));
}

uint32_t element_bytes(const std::string& pointer_type) {
  static const std::map<std::string, uint32_t> sizes = {
      {"char", 1},      {"signed char", 1},  {"unsigned char", 1},
      {"bool", 1},      {"short", 2},        {"unsigned short", 2},
      {"int", 4},       {"unsigned int", 4}, {"unsigned", 4},
      {"float", 4},     {"long", 8},         {"unsigned long", 8},
      {"long long", 8}, {"double", 8},       {"unsigned long long", 8},
      {"float2", 8},    {"float3", 12},      {"float4", 16},
      {"int2", 8},      {"int3", 12},        {"int4", 16},
      {"uint2", 8},     {"uint4", 16},       {"double2", 16},
      {"uchar4", 4},    {"char4", 4},        {"short2", 4},
      {"__half", 2},    {"half", 2},         {"__nv_bfloat16", 2},
      {"uint8_t", 1},   {"int8_t", 1},       {"uint16_t", 2},
      {"int16_t", 2},   {"uint32_t", 4},     {"int32_t", 4},
      {"uint64_t", 8},  {"int64_t", 8},      {"size_t", 8},
  };
  const std::string element = element_name(pointer_type);
  if (element.ends_with('*')) return 8;
  const auto found = sizes.find(element);
  return found == sizes.end() ? 0 : found->second;
}

}  // namespace sluice::tools
