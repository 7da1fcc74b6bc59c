#include "dro/journal/check_record.hpp"

#include <nlohmann/json.hpp>

#include "dro/journal/journal_reader.hpp"

namespace sluice::dro {

using json = nlohmann::ordered_json;

std::string check_text(const CheckRecord& check) {
  json arguments = json::array();
  for (const CheckRecord::Argument& argument : check.arguments) {
    arguments.push_back(
        {{"name", argument.name},
         {"reads", {argument.read_bytes_touched, argument.read_bytes_claimed}},
         {"writes", {argument.written_bytes_touched, argument.written_bytes_claimed}},
         {"must_writes", argument.must_write_bytes}});
  }
  const json record = {{"record", "check"},
                       {"kernel", check.kernel},
                       {"launches", check.launches},
                       {"unchecked", check.unchecked},
                       {"blocks", check.blocks},
                       {"launched_blocks", check.launched_blocks},
                       {"violations", check.violations},
                       {"arguments", std::move(arguments)}};
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<CheckRecord> check_of(const JournalRecord& record) {
  try {
    const nlohmann::json& value = record.value;
    CheckRecord check;
    check.kernel = value.at("kernel").get<std::string>();
    check.launches = value.at("launches").get<uint64_t>();
    check.unchecked = value.at("unchecked").get<uint64_t>();
    check.blocks = value.at("blocks").get<uint64_t>();
    // Journals from before blocks could be left out do not say it.
    check.launched_blocks = value.value("launched_blocks", check.blocks);
    check.violations = value.at("violations").get<uint64_t>();
    for (const nlohmann::json& source : value.at("arguments")) {
      CheckRecord::Argument argument;
      argument.name = source.at("name").get<std::string>();
      argument.read_bytes_touched = source.at("reads").at(0).get<uint64_t>();
      argument.read_bytes_claimed = source.at("reads").at(1).get<uint64_t>();
      argument.written_bytes_touched = source.at("writes").at(0).get<uint64_t>();
      argument.written_bytes_claimed = source.at("writes").at(1).get<uint64_t>();
      argument.must_write_bytes = source.at("must_writes").get<uint64_t>();
      check.arguments.push_back(std::move(argument));
    }
    return check;
  } catch (const nlohmann::json::exception& error) {
    return invalid_input(std::string("the record is not as it should be: ") + error.what(),
                         record.where);
  }
}

}  // namespace sluice::dro
