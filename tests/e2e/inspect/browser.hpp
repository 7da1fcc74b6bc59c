// A headless Chromium, driven by its DevTools protocol over two pipes.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "e2e/process.hpp"

namespace sluice::e2e {

// Browser starts Chromium and shows one page. Whatever does not work (no Chromium, no answer within
// two minutes, a script that throws) is thrown as std::runtime_error, which fails the test.
class Browser {
 public:
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // open() shows a page and returns when it has loaded.
  void open(const std::string& url);

  // evaluate() is the value of a JavaScript expression in the page; promises are awaited.
  nlohmann::json evaluate(const std::string& expression);

  // screenshot() is what the page shows within the element that a CSS selector finds: red, green
  // and blue of each pixel, a row after the other.
  struct Picture {
    int width = 0;
    int height = 0;
    std::vector<int> colours;
    int red(int x, int y) const { return colours[static_cast<size_t>(3 * (y * width + x))]; }
  };
  Picture screenshot(const std::string& selector);

  // problems() are all errors and warnings of the page's console so far, exceptions, and addresses
  // other than of files that it asked for.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters,
                      const std::string& session);
  std::string new_page();
  nlohmann::json evaluate_in(const std::string& session, const std::string& expression);
  nlohmann::json receive();
  void note(const nlohmann::json& event);

  ScratchFolder profile_;
  pid_t child_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string received_;
  int last_call_ = 0;
  std::string page_;  // its session
  bool loaded_ = false;
  std::vector<std::string> problems_;
};

}  // namespace sluice::e2e
