#include "json_text.hpp"

#include <cmath>
#include <cstdio>

namespace sluice::gpu_probe {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", value);
  return digits;
}

std::string json_array(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    out += out.size() == 1 ? "" : ",";
    out += value;
  }
  return out + ']';
}

JsonObject& JsonObject::text(std::string_view key, std::string_view value) {
  return json(key, json_string(value));
}

JsonObject& JsonObject::number(std::string_view key, double value) {
  return json(key, json_number(value));
}

JsonObject& JsonObject::json(std::string_view key, std::string_view value) {
  members_ += members_.empty() ? "" : ",";
  members_ += json_string(key) + ':';
  members_ += value;
  return *this;
}

std::string JsonObject::str() const {
  return '{' + members_ + '}';
}

}  // namespace sluice::gpu_probe
