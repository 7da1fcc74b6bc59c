// JSON as text. nlohmann's library takes a second to read, and seconds more for what is used of it:
// only json_text.cpp has its serializer and its parser, and who builds JSON needs none of it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sluice {

// JsonText is one value as JSON, written by nlohmann's rules: bytes that are no UTF-8 are replaced.
//
//   JsonText::object({{"kernel", name}, {"grid", JsonText::array({8, 8})}})
class JsonText {
 public:
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): a value stands for its JSON
  JsonText(std::nullptr_t) : text_("null") {}
  JsonText(std::string_view value);
  JsonText(const std::string& value) : JsonText(std::string_view(value)) {}
  JsonText(const char* value) : JsonText(std::string_view(value)) {}
  JsonText(double value);
  template <std::same_as<bool> T>
  JsonText(T value) : text_(value ? "true" : "false") {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonText(T value) : text_(std::to_string(value)) {}
  template <class T>
  JsonText(const std::vector<T>& values) : JsonText(array({})) {
    for (const T& value : values)
      add(value);
  }
  template <class First, class Second>
  JsonText(const std::pair<First, Second>& pair) : JsonText(array({pair.first, pair.second})) {}
  template <class T>
  JsonText(const std::map<std::string, T>& members) : JsonText(object({})) {
    for (const auto& [name, value] : members)
      add(name, value);
  }
  // NOLINTEND(google-explicit-constructor)

  static JsonText array(std::initializer_list<JsonText> values);
  // Members keep their order; no two have one name.
  static JsonText object(std::initializer_list<Member> members);
  // of_text() takes what is JSON already.
  static JsonText of_text(std::string text);

  // To the end of an array, or of an object.
  void add(const JsonText& value);
  void add(std::string_view name, const JsonText& value);
  void add_members(const JsonText& object);

  const std::string& text() const { return text_; }

 private:
  JsonText() = default;
  void add_text(std::string_view text);
  std::string text_;
};

struct JsonText::Member {
  std::string_view name;
  JsonText value;
};

// parsed_json() is a discarded value where the text is no JSON.
nlohmann::json parsed_json(std::string_view text);

// json_text_of() is a value on one line or, with `indent`, on several. Bytes that are no UTF-8 are
// replaced.
std::string json_text_of(const nlohmann::json& value, int indent = -1);

}  // namespace sluice
