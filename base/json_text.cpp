#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sluice {

using nlohmann::json;

JsonText::JsonText(std::string_view value) : text_(json_text_of(value)) {}

JsonText::JsonText(double value) : text_(json_text_of(value)) {}

JsonText JsonText::array(std::initializer_list<JsonText> values) {
  JsonText array = of_text("[]");
  for (const JsonText& value : values)
    array.add(value);
  return array;
}

JsonText JsonText::object(std::initializer_list<Member> members) {
  JsonText object = of_text("{}");
  for (const Member& member : members)
    object.add(member.name, member.value);
  return object;
}

JsonText JsonText::of_text(std::string text) {
  JsonText value;
  value.text_ = std::move(text);
  return value;
}

void JsonText::add(const JsonText& value) {
  add_text(value.text_);
}

void JsonText::add(std::string_view name, const JsonText& value) {
  add_text(json_text_of(name) + ":" + value.text_);
}

void JsonText::add_members(const JsonText& object) {
  if (object.text_ != "{}")
    add_text(std::string_view(object.text_).substr(1, object.text_.size() - 2));
}

// add_text() puts it before the closing bracket.
void JsonText::add_text(std::string_view text) {
  const char end = text_.back();
  text_.pop_back();
  if (text_.size() > 1) text_ += ',';
  text_ += text;
  text_ += end;
}

json parsed_json(std::string_view text) {
  return json::parse(text.begin(), text.end(), nullptr, false);
}

std::string json_text_of(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace sluice
