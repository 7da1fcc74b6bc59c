// A minimal writer of JSON.
//
// The rest of Sluice writes JSON with nlohmann::json. The probes do not, since they must compile on
// a bare GPU machine that has nvcc and a C++ compiler and nothing else, often with no way to fetch
// a header. The tests parse what this writes with nlohmann::json.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sluice::gpu_probe {

// json_string() quotes UTF-8 text.
std::string json_string(std::string_view text);

// json_number() writes a number with ten significant digits, and null where it is not finite, since
// JSON has no word for that.
std::string json_number(double value);

// json_array() joins values that are JSON already.
std::string json_array(const std::vector<std::string>& values);

// JsonObject collects members in the order in which they are added:
//   JsonObject().text("gpu", name).number("sms", 132).json("rows", json_array(rows)).str()
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& number(std::string_view key, double value);
  JsonObject& json(std::string_view key, std::string_view value);
  std::string str() const;

 private:
  std::string members_;
};

}  // namespace sluice::gpu_probe
