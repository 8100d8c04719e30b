// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/run/hostgroup.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace knobscope::test {

/// Hosts that exist in a test only. Answers every question at once, unless the test holds an answer
/// back or makes it fail. Thread-safe, as hosts are opened from several threads.
class FakeHosts {
public:
    struct Asked {
        QString label;
        int agent = 0; ///< of the host, from 0
        std::string method;
        Json params;
    };
    using Answer = std::function<Result<Json>(const Asked&)>;

    Answer answer = [](const Asked&) { return Result<Json>(Json::object()); };
    std::function<std::optional<Error>(const HostSpec&, int agent)> refuseOpening =
        [](const HostSpec&, int) { return std::nullopt; };
    std::function<std::string(const HostSpec&)> machineOf = [](const HostSpec& host) {
        return host.local ? std::string("here") : host.ssh.toStdString();
    };

    [[nodiscard]] HostGroup::Opener opener() {
        return [this](const HostSpec& host, const HostOptions& options, const CancelToken&) {
            return open(host, options);
        };
    }
    [[nodiscard]] std::vector<Asked> asked(const std::string& method = {}) {
        const std::scoped_lock lock(m_mutex);
        std::vector<Asked> some;
        for (const Asked& one : m_asked) {
            if (method.empty() || one.method == method)
                some.push_back(one);
        }
        return some;
    }
    [[nodiscard]] std::set<QString> groups() {
        const std::scoped_lock lock(m_mutex);
        return m_groups;
    }
    /// Most that were being opened at the same time: of all hosts, or of one.
    [[nodiscard]] int mostOpening(const QString& host = {}) {
        const std::scoped_lock lock(m_mutex);
        return m_mostOpening[host];
    }
    [[nodiscard]] int open() const { return m_open; }
    /// Holds back the answers to `method` of hosts whose label begins with `side`, until it has
    /// been asked of `count` of them. Those that wait for 3 s are Timeout.
    void gate(const std::string& method, QChar side, std::size_t count) {
        const std::scoped_lock lock(m_mutex);
        m_gates[method + side.toLatin1()].count = count;
    }
    void lose(const QString& label) {
        const std::scoped_lock lock(m_mutex);
        m_lost.insert(label);
    }

private:
    class Session : public HostSession {
    public:
        Session(FakeHosts& hosts, QString label, int agent, std::string machine)
            : m_hosts(hosts), m_label(std::move(label)), m_agent(agent) {
            m_hello.machine_id = std::move(machine);
            ++m_hosts.m_open;
        }
        ~Session() override { --m_hosts.m_open; }
        std::future<Result<Json>> call(const char* method, Json params,
                                       std::chrono::milliseconds) override {
            const Asked asked{m_label, m_agent, method, std::move(params)};
            {
                const std::scoped_lock lock(m_hosts.m_mutex);
                m_hosts.m_asked.push_back(asked);
            }
            return m_hosts.reply(asked);
        }
        const protocol::HelloResult& hello() const override { return m_hello; }
        QString label() const override { return m_label; }
        bool lost() const override {
            const std::scoped_lock lock(m_hosts.m_mutex);
            return m_hosts.m_lost.contains(m_label);
        }
        void setNotificationHandler(std::function<void(const std::string&, const Json&)>) override {
        }

    private:
        FakeHosts& m_hosts;
        const QString m_label;
        const int m_agent;
        protocol::HelloResult m_hello;
    };

    struct Gate {
        std::size_t count = 0;
        std::size_t asked = 0;
        std::shared_ptr<std::promise<void>> open = std::make_shared<std::promise<void>>();
        std::shared_future<void> opened = open->get_future().share();
    };

    std::future<Result<Json>> reply(const Asked& asked) {
        std::shared_future<void> opened;
        {
            const std::scoped_lock lock(m_mutex);
            const auto gate = m_gates.find(asked.method + asked.label.front().toLatin1());
            if (gate != m_gates.end()) {
                opened = gate->second.opened;
                if (++gate->second.asked == gate->second.count)
                    gate->second.open->set_value();
            }
        }
        std::promise<Result<Json>> promise;
        promise.set_value(answer(asked));
        if (!opened.valid())
            return promise.get_future();
        return std::async(
            std::launch::async, [opened, held = promise.get_future()]() mutable -> Result<Json> {
                if (opened.wait_for(std::chrono::seconds(3)) != std::future_status::ready)
                    return fail(Error::Code::Timeout, QStringLiteral("the others were not asked"));
                return held.get();
            });
    }

    Result<std::unique_ptr<HostSession>> open(const HostSpec& host, const HostOptions& options) {
        count(host, 1);
        // Long enough that those that are begun together meet.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        count(host, -1);
        const std::scoped_lock lock(m_mutex);
        const int agent = m_agents[host.address]++;
        if (const auto refused = refuseOpening(host, agent))
            return tl::unexpected<Error>(*refused);
        m_groups.insert(options.group);
        return std::unique_ptr<HostSession>(
            std::make_unique<Session>(*this, host.label(), agent, machineOf(host)));
    }

    void count(const HostSpec& host, int step) {
        const std::scoped_lock lock(m_mutex);
        for (const QString& whose : {QString(), host.label()}) {
            m_opening[whose] += step;
            m_mostOpening[whose] = std::max(m_mostOpening[whose], m_opening[whose]);
        }
    }

    mutable std::mutex m_mutex;
    std::vector<Asked> m_asked;
    std::set<QString> m_groups;
    std::set<QString> m_lost;
    std::map<QString, int> m_agents;  ///< opened so far, by test address
    std::map<QString, int> m_opening; ///< now, by label; of all hosts under the empty one
    std::map<QString, int> m_mostOpening;
    std::map<std::string, Gate> m_gates; ///< by method and first letter of the label
    std::atomic<int> m_open = 0;
};

/// Hosts s1, s2... and r1, r2...
[[nodiscard]] inline Experiment fakeExperiment(int senders, int receivers) {
    const auto spec = [](char side, int number) {
        return HostSpec{false, QStringLiteral("%1%2").arg(QLatin1Char(side)).arg(number),
                        QStringLiteral("10.0.%1.%2").arg(side == 's' ? 1 : 2).arg(number),
                        QStringLiteral("test0")};
    };
    Experiment experiment;
    experiment.name = QStringLiteral("Fake");
    experiment.sender = spec('s', 1);
    experiment.receiver = spec('r', 1);
    for (int i = 2; i <= senders; ++i)
        experiment.moreSenders << spec('s', i);
    for (int i = 2; i <= receivers; ++i)
        experiment.moreReceivers << spec('r', i);
    experiment.test.seconds = 0.1;
    return experiment;
}

} // namespace knobscope::test
