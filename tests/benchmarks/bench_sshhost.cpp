// SPDX-License-Identifier: GPL-3.0-or-later
// How long it takes to reach hosts over SSH, from the name to the agent's hello, with real sshds in
// the lab. Root. Usage: bench_sshhost [--hosts N] [--rounds N] [--check]
// --check: exit status 1 when a bound is exceeded.
#include "core/host/hostsession.h"
#include "core/host/hoststeps.h"
#include "tests/lab/sshlab.h"

#include <QCommandLineParser>
#include <QCoreApplication>

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace knobscope;
using namespace knobscope::test;

namespace {

using Clock = std::chrono::steady_clock;

/// What reaching hosts may take: one that was used before; sixteen of them at once.
constexpr double kOneHostMs = 300;
constexpr double kManyHostsMs = 1500;

double sinceMs(Clock::time_point begun) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Reaches one host; the time, or nothing when it does not work.
std::optional<double> reach(const QString& name, const HostOptions& options,
                            HostSteps* steps = nullptr) {
    const auto begun = Clock::now();
    const Session session = HostSession::open(SshLab::spec(name), options, {}, steps);
    const double took = sinceMs(begun);
    if (!session) {
        std::fprintf(stderr, "%s: %s\n", qPrintable(name), qPrintable(session.error().text()));
        return std::nullopt;
    }
    return took;
}

class Bench {
public:
    Bench(SshLab& lab, int hosts, int rounds) : m_lab(lab), m_hosts(hosts), m_rounds(rounds) {}

    bool run() {
        const HostOptions direct = m_lab.options();
        bool good = measure("first time, with the agent's upload", 0, [&] {
            m_lab.sh("rm -rf /var/tmp/knobscope-0");
            return reach(QStringLiteral("host1"), direct);
        });
        good = measure("seen before", kOneHostMs,
                       [&] { return reach(QStringLiteral("host1"), direct); }) &&
               good;
        const QByteArray far = "Host far\n User root\n HostName " +
                               m_lab.lab().host(1).controlAddress.toUtf8() +
                               "\n ProxyJump host1\nHost host1\n User root\n HostName " +
                               m_lab.lab().host(0).controlAddress.toUtf8() + "\n";
        const HostOptions jump = m_lab.config(far);
        good = measure("seen before, behind a jump host", 0,
                       [&] { return reach(QStringLiteral("far"), jump); }) &&
               good;
        char name[64];
        std::snprintf(name, sizeof name, "%d hosts at once", m_hosts);
        return measure(name, kManyHostsMs, [&] { return reachAll(direct); }) && good;
    }

    void showSteps() {
        HostSteps steps;
        (void)reach(QStringLiteral("host1"), m_lab.options(), &steps);
        std::printf("\nsteps of one connection\n");
        for (const HostStep& step : steps.all())
            std::printf("  %-16s %8.1f ms\n", qPrintable(stepTitle(step.kind)),
                        double(step.took.count()) / 1000);
    }

private:
    bool measure(const char* name, double limitMs,
                 const std::function<std::optional<double>()>& once) {
        std::vector<double> times;
        (void)once(); // the first finds cold caches
        for (int i = 0; i < m_rounds; ++i) {
            // What the round before has left is to be gone.
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            if (const auto took = once())
                times.push_back(*took);
        }
        if (times.empty())
            return false;
        const double middle = median(times);
        std::printf("%-40s median %7.1f ms, best %7.1f, worst %7.1f", name, middle,
                    *std::min_element(times.begin(), times.end()),
                    *std::max_element(times.begin(), times.end()));
        if (limitMs > 0)
            std::printf("  (bound %.0f ms: %s)", limitMs, middle <= limitMs ? "kept" : "EXCEEDED");
        std::printf("\n");
        return limitMs <= 0 || middle <= limitMs;
    }

    /// All hosts at once, until the last is there.
    std::optional<double> reachAll(const HostOptions& options) const {
        const auto begun = Clock::now();
        std::vector<Session> sessions;
        for (int i = 0; i < m_hosts; ++i)
            sessions.emplace_back(tl::unexpected<Error>(Error{}));
        std::vector<std::thread> threads;
        for (int i = 0; i < m_hosts; ++i)
            threads.emplace_back([&, i] {
                sessions[std::size_t(i)] = m_lab.open(QStringLiteral("host%1").arg(i + 1), options);
            });
        for (std::thread& thread : threads)
            thread.join();
        const double took = sinceMs(begun);
        for (const Session& session : sessions) {
            if (!session) {
                std::fprintf(stderr, "%s\n", SshLab::why(session));
                return std::nullopt;
            }
        }
        return took;
    }

    SshLab& m_lab;
    const int m_hosts;
    const int m_rounds;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addOptions({{QStringLiteral("hosts"), QStringLiteral("at once"), QStringLiteral("n"),
                        QStringLiteral("16")},
                       {QStringLiteral("rounds"), QStringLiteral("measured rounds"),
                        QStringLiteral("n"), QStringLiteral("9")},
                       {QStringLiteral("check"), QStringLiteral("fail when a bound is exceeded")}});
    parser.addHelpOption();
    parser.process(app);
    const int hosts = std::clamp(parser.value(QStringLiteral("hosts")).toInt(), 2, 50);
    const int rounds = std::max(parser.value(QStringLiteral("rounds")).toInt(), 1);
    SshLab lab;
    if (!lab.up({QStringLiteral("-n"), QString::number(hosts)})) {
        std::fprintf(stderr, "%s\n", qPrintable(lab.error()));
        return 2;
    }
    Bench bench(lab, hosts, rounds);
    const bool good = bench.run();
    bench.showSteps();
    return good || !parser.isSet(QStringLiteral("check")) ? 0 : 1;
}
