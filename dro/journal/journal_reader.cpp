#include "dro/journal/journal_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace sluice::dro {
namespace {

using nlohmann::json;

// member_of() is a member of a line that may be no object; null where there is none. It is not
// copied, since that recurses as deep as a line is nested.
const json& member_of(const json& line, const char* name) {
  static const json none;
  const auto found = line.find(name);
  return found == line.end() ? none : *found;
}

// words_of() is a value as text, which of one that is nested would take as much stack.
std::string words_of(const json& value) {
  return value.is_structured() ? value.type_name() : json_text_of(value);
}

// name_of() is "footprint 3", as well as a line allows that may be damaged.
std::string name_of(const json& line) {
  const json& kind = member_of(line, "record");
  if (!kind.is_string()) return {};
  const auto& name = kind.get_ref<const std::string&>();
  for (const char* number : {"id", "number", "buffer"}) {
    if (line.contains(number)) return name + " " + words_of(line[number]);
  }
  return name;
}

// Members reads what members<> declares out of a JSON object. Throws where it is not there or is
// something else.
class Members {
 public:
  explicit Members(const json& source) : source_(source) {}

  template <class T>
  void operator()(const char* name, T&& value) {
    take(source_.at(name), value);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    value.reset();
    if (source_.contains(name)) take(source_.at(name), value.emplace());
  }
  template <class T>
  void unless_empty(const char* name, T& value) {
    if (source_.contains(name)) take(source_.at(name), value);
  }
  template <class Variant>
  void alternative(const char* name, Variant& value) {
    const auto kind = source_.at(name).get<std::string>();
    if (!emplace_kind(value, kind)) {
      throw std::invalid_argument(fmt::format("no {} \"{}\" is known", name, kind));
    }
  }
  template <class... T>
  void of_alternative(std::variant<T...>& value) {
    std::visit([this]<class Held>(Held& held) { members<Held>(held, *this); }, value);
  }

 private:
  template <class T>
  static void take(const json& from, T& to) {
    if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) {
      from.get_to(to);
    } else if constexpr (std::integral<T>) {
      take_number(from, to);
    } else if constexpr (std::is_enum_v<T>) {
      const auto name = from.get<std::string>();
      const auto known = std::ranges::find(names<T>, name);
      if (known == names<T>.end()) throw std::invalid_argument("\"" + name + "\" is not known");
      to = static_cast<T>(known - names<T>.begin());
    } else if constexpr (std::same_as<T, Hazards>) {
      to = hazards_of(from.get<std::string>());
    } else if constexpr (Object<T>) {
      Members found(from);
      members<T>(to, found);
    } else if constexpr (Array<T>) {
      size_t next = 0;
      std::apply([&](auto&&... each) { (take(from.at(next++), each), ...); }, elements<T>(to));
    } else {
      to.clear();
      for (const json& each : from.get_ref<const json::array_t&>())
        take(each, to.emplace_back());
    }
  }
  template <std::integral T>
  static void take_number(const json& from, T& to) {
    const bool fits = from.is_number_unsigned()
                          ? std::in_range<T>(from.get<uint64_t>())
                          : from.is_number_integer() && std::in_range<T>(from.get<int64_t>());
    if (!fits) throw std::out_of_range(words_of(from) + " is no number that fits");
    from.get_to(to);
  }

  const json& source_;
};

// made() is what `make` makes, which may throw, or the error.
template <class Make>
auto made(const std::string& where, Make&& make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (const std::exception& error) {
    return invalid_input(std::string("the record is not as it should be: ") + error.what(), where);
  }
}

}  // namespace

Result<Record> record_of(const json& value, const std::string& where) {
  return made(where, [&] {
    Record record;
    Members found(value);
    found.alternative("record", record);
    found.of_alternative(record);
    return record;
  });
}

Result<JournalReader> JournalReader::open(const std::string& path) {
  // A pipe would be waited for, and can be read only once.
  std::error_code none;
  const std::filesystem::file_status status = std::filesystem::status(path, none);
  if (std::filesystem::is_directory(status)) {
    return system_error("cannot read: it is a directory", path);
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return system_error("cannot read: it is no regular file", path);
  }
  JournalReader reader(path);
  if (!reader.file_) return system_error(std::string("cannot read: ") + std::strerror(errno), path);
  std::string line;
  if (!std::getline(reader.file_, line)) {
    return invalid_input("the journal is empty", path);
  }
  ++reader.line_number_;
  const json header = parsed_json(line);
  if (member_of(header, "journal") != "sluice") {
    return invalid_input("this is no journal of Sluice", path);
  }
  const json& version = member_of(header, "version");
  if (version != journal_version) {
    return unsupported(fmt::format("the journal has version {}, and this program reads version {}",
                                   words_of(version), journal_version),
                       path);
  }
  if (!unsealed(line)) {
    return invalid_input("seal does not match: the record was changed or damaged",
                         path + ":1 (header)");
  }
  const Result<JournalHeader> read = made(path + ":1 (header)", [&] {
    JournalHeader taken;
    Members found(header);
    members<JournalHeader>(taken, found);
    return taken;
  });
  if (!read) return tl::unexpected(read.error());
  reader.header_ = *read;
  return reader;
}

Result<std::optional<JournalRecord>> JournalReader::next() {
  std::string line;
  if (!std::getline(file_, line)) return std::nullopt;
  ++line_number_;
  const json value = parsed_json(line);
  const std::string name = name_of(value);
  JournalRecord record;
  record.where = fmt::format("{}:{}{}", path_, line_number_, name.empty() ? "" : " (" + name + ")");
  auto text = unsealed(line);
  if (!text && file_.eof()) {
    note_ = fmt::format("{}:{}: the last line is not whole; the program ended while it was written",
                        path_, line_number_);
    return std::nullopt;
  }
  is_damaged_ = !text;
  if (is_damaged_) {
    return invalid_input("seal does not match: the record was changed or damaged", record.where);
  }
  record.text = std::move(*text);
  auto taken = record_of(value, record.where);
  if (!taken) return tl::unexpected(taken.error());
  record.value = std::move(*taken);
  return record;
}

}  // namespace sluice::dro
