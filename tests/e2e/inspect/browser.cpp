#include "e2e/inspect/browser.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::e2e {
namespace {

using nlohmann::json;

constexpr int patience_ms = 120'000;

// Chromium reads commands from descriptor 3 and answers on 4.
[[noreturn]] void become_chromium(int commands, int answers, const std::string& profile) {
  const int kept_commands = fcntl(commands, F_DUPFD, 10),
            kept_answers = fcntl(answers, F_DUPFD, 10);
  dup2(kept_commands, 3);
  dup2(kept_answers, 4);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  const std::string folder = "--user-data-dir=" + profile;
  execlp(SLUICE_CHROMIUM, SLUICE_CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
         "--no-first-run", "--force-device-scale-factor=1", "--force-color-profile=srgb",
         "--remote-debugging-pipe", folder.c_str(), "about:blank", nullptr);
  _exit(127);
}

}  // namespace

Browser::Browser() {
  int commands[2], answers[2];
  if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipes for Chromium");
  }
  signal(SIGPIPE, SIG_IGN);  // where it is not there, reading says so
  child_ = fork();
  if (child_ == 0) become_chromium(commands[0], answers[1], profile_.file("profile"));
  close(commands[0]);
  close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
  page_ = new_page();
  for (const char* domain : {"Page", "Runtime", "Log", "Network"})
    call(std::string(domain) + ".enable", json::object(), page_);
}

Browser::~Browser() {
  close(to_);
  close(from_);
  kill(child_, SIGTERM);
  waitpid(child_, nullptr, 0);
}

json Browser::receive() {
  while (received_.find('\0') == std::string::npos) {
    pollfd waiting = {from_, POLLIN, 0};
    if (poll(&waiting, 1, patience_ms) != 1) throw std::runtime_error("Chromium does not answer");
    char bytes[65536];
    const ssize_t count = read(from_, bytes, sizeof bytes);
    if (count <= 0) {
      throw std::runtime_error(
          "Chromium cannot be started or has ended: scripts/setup installs it");
    }
    received_.append(bytes, static_cast<size_t>(count));
  }
  const size_t end = received_.find('\0');
  json message = json::parse(received_.substr(0, end));
  received_.erase(0, end + 1);
  return message;
}

void Browser::note(const json& event) {
  const std::string method = event.value("method", "");
  const json& about = event.value("params", json::object());
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Runtime.exceptionThrown") problems_.push_back(about.dump());
  if (method == "Runtime.consoleAPICalled" &&
      (about["type"] == "error" || about["type"] == "warning" || about["type"] == "assert")) {
    problems_.push_back(about["args"].dump());
  }
  if (method == "Log.entryAdded" &&
      (about["entry"]["level"] == "error" || about["entry"]["level"] == "warning")) {
    problems_.push_back(about["entry"].dump());
  }
  if (method == "Network.requestWillBeSent") {
    const auto url = about["request"]["url"].get<std::string>();
    if (!url.starts_with("file:") && !url.starts_with("data:"))
      problems_.push_back("asks for " + url);
  }
}

json Browser::call(const std::string& method, const json& parameters, const std::string& session) {
  json message = {{"id", ++last_call_}, {"method", method}, {"params", parameters}};
  if (!session.empty()) message["sessionId"] = session;
  const std::string text = message.dump();
  size_t written = 0;
  while (written <= text.size()) {  // with the zero at its end
    const ssize_t count = write(to_, text.c_str() + written, text.size() + 1 - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  while (true) {
    json answer = receive();
    if (answer.value("id", 0) != last_call_) {
      if (answer.value("sessionId", "") == page_) note(answer);
      continue;
    }
    if (answer.count("error") != 0)
      throw std::runtime_error(method + ": " + answer["error"].dump());
    return answer["result"];
  }
}

std::string Browser::new_page() {
  const json target = call("Target.createTarget", {{"url", "about:blank"}}, "");
  return call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}},
              "")["sessionId"];
}

void Browser::open(const std::string& url) {
  loaded_ = false;
  call("Page.navigate", {{"url", url}}, page_);
  while (!loaded_)
    note(receive());
}

json Browser::evaluate_in(const std::string& session, const std::string& expression) {
  const json result =
      call("Runtime.evaluate",
           {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}}, session);
  if (result.count("exceptionDetails") != 0) {
    throw std::runtime_error(result["exceptionDetails"].dump());
  }
  return result["result"].value("value", json());
}

json Browser::evaluate(const std::string& expression) {
  return evaluate_in(page_, expression);
}

Browser::Picture Browser::screenshot(const std::string& selector) {
  const json box =
      evaluate("(() => { const r = document.querySelector('" + selector +
               "').getBoundingClientRect(); return {x: r.x + scrollX, y: r.y + scrollY, "
               "width: r.width, height: r.height, scale: 1}; })()");
  const json shot =
      call("Page.captureScreenshot",
           {{"format", "png"}, {"clip", box}, {"captureBeyondViewport", true}}, page_);
  // Another page decodes it: this one's policy allows no pictures.
  const json pixels = evaluate_in(
      new_page(),
      "(async () => { const image = new Image(); image.src = 'data:image/png;base64," +
          shot["data"].get<std::string>() +
          "'; await image.decode(); const canvas = document.createElement('canvas'); canvas.width "
          "= "
          "image.width; canvas.height = image.height; const context = canvas.getContext('2d'); "
          "context.drawImage(image, 0, 0); const all = context.getImageData(0, 0, image.width, "
          "image.height).data; return {width: image.width, height: image.height, colours: "
          "Array.from(all.filter((_, i) => i % 4 !== 3))}; })()");
  return {pixels["width"], pixels["height"], pixels["colours"].get<std::vector<int>>()};
}

}  // namespace sluice::e2e
