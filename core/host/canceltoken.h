// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>

namespace knobscope {

/// Set once, from any thread, to end what is going on. Copies share the flag.
class CancelToken {
public:
    void cancel() { m_flag->store(true); }
    [[nodiscard]] bool cancelled() const { return m_flag->load(); }

private:
    std::shared_ptr<std::atomic<bool>> m_flag = std::make_shared<std::atomic<bool>>(false);
};

} // namespace knobscope
