#include "dro/journal/task_record.hpp"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dro/journal/journal_reader.hpp"

namespace sluice::dro {

std::string task_text(const TaskRecord& record) {
  std::string text = fmt::format(R"({{"record":"tasks","launch":{},"blocks_per_task":{},"times":[)",
                                 record.launch, record.blocks_per_task);
  for (const TaskRecord::Task& task : record.tasks) {
    fmt::format_to(std::back_inserter(text), "{}[{},{},{},{}]", text.back() == '[' ? "" : ",",
                   task.worker, task.taken, task.begun, task.ended);
  }
  text += R"(],"delays":[)";
  for (const TaskRecord::Delay& delay : record.delays) {
    fmt::format_to(std::back_inserter(text), "{}[{},{},{}]", text.back() == '[' ? "" : ",",
                   delay.task, delay.master, delay.master_task);
  }
  return text + "]}";
}

Result<TaskRecord> tasks_of(const JournalRecord& record) {
  try {
    const nlohmann::json& value = record.value;
    TaskRecord tasks;
    tasks.launch = value.at("launch").get<LaunchNumber>();
    tasks.blocks_per_task = value.at("blocks_per_task").get<uint32_t>();
    for (const nlohmann::json& times : value.at("times")) {
      tasks.tasks.push_back({times.at(0).get<uint32_t>(), times.at(1).get<int64_t>(),
                             times.at(2).get<int64_t>(), times.at(3).get<int64_t>()});
    }
    for (const nlohmann::json& delay : value.at("delays")) {
      tasks.delays.push_back({delay.at(0).get<uint32_t>(), delay.at(1).get<LaunchNumber>(),
                              delay.at(2).get<uint32_t>()});
    }
    return tasks;
  } catch (const nlohmann::json::exception& error) {
    return invalid_input(std::string("the record is not as it should be: ") + error.what(),
                         record.where);
  }
}

}  // namespace sluice::dro
