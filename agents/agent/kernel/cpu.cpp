// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/cpu.h"

#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <ctime>
#include <sys/resource.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

/// More CPUs than any kernel is built for are not believed.
constexpr std::uint64_t kMaxCpus = 65536;

CpuReading::Times parseTimes(const std::vector<std::string_view>& columns, double ticks) {
    const auto seconds = [&](std::size_t column) {
        if (column >= columns.size())
            return 0.0;
        return static_cast<double>(toNumber(columns[column]).value_or(0)) / ticks;
    };
    // user nice system idle iowait irq softirq steal guest guest_nice; user includes guest.
    CpuReading::Times times;
    times.user = seconds(1);
    times.nice = seconds(2);
    times.system = seconds(3);
    times.idle = seconds(4) + seconds(5);
    times.irq = seconds(6);
    times.softirq = seconds(7);
    times.steal = seconds(8);
    return times;
}

/// Counters of idle CPUs have been seen to step back a little; time does not.
double since(double before, double after) {
    return std::max(0.0, after - before);
}

double toSeconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

} // namespace

CpuReading parseCpu(std::string_view text, double ticks_per_second) {
    CpuReading reading;
    std::string_view line;
    while (nextLine(text, line)) {
        const std::vector<std::string_view> columns = words(line);
        if (columns.size() == 2 && columns.front() == "ctxt")
            reading.context_switches = toNumber(columns[1]).value_or(0);
        if (!line.starts_with("cpu"))
            continue;
        const CpuReading::Times times = parseTimes(columns, ticks_per_second);
        if (columns.front() == "cpu") {
            reading.all = times;
            continue;
        }
        const auto number = toNumber(columns.front().substr(3));
        if (!number || *number >= kMaxCpus)
            continue;
        // Lines of CPUs that are offline are missing: keep each at its own number.
        if (reading.each.size() <= *number)
            reading.each.resize(*number + 1);
        reading.each[*number] = times;
    }
    return reading;
}

CpuReading readCpu() {
    const auto text = readText("/proc/stat");
    CpuReading reading = parseCpu(text.value_or(""), static_cast<double>(::sysconf(_SC_CLK_TCK)));
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    reading.monotonic_s = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    rusage own{};
    if (::getrusage(RUSAGE_SELF, &own) == 0) {
        reading.agent_user = toSeconds(own.ru_utime);
        reading.agent_system = toSeconds(own.ru_stime);
        reading.agent_voluntary_switches = static_cast<std::uint64_t>(own.ru_nvcsw);
        reading.agent_involuntary_switches = static_cast<std::uint64_t>(own.ru_nivcsw);
    }
    return reading;
}

protocol::CpuUse cpuUse(const CpuReading& before, const CpuReading& after) {
    protocol::CpuUse use;
    use.user_s = since(before.all.user, after.all.user);
    use.nice_s = since(before.all.nice, after.all.nice);
    use.system_s = since(before.all.system, after.all.system);
    use.irq_s = since(before.all.irq, after.all.irq);
    use.softirq_s = since(before.all.softirq, after.all.softirq);
    use.steal_s = since(before.all.steal, after.all.steal);
    use.idle_s = since(before.all.idle, after.all.idle);
    use.elapsed_s = since(before.monotonic_s, after.monotonic_s);
    use.cpus = static_cast<int>(
        std::count_if(after.each.begin(), after.each.end(),
                      [](const CpuReading::Times& times) { return times.total() > 0; }));
    for (std::size_t i = 0; i < std::min(before.each.size(), after.each.size()); ++i) {
        // A CPU that was offline at one of the ends has no share to speak of.
        use.busy_percent.push_back(-1);
        if (before.each[i].total() <= 0 || after.each[i].total() <= 0)
            continue;
        const double busy = since(before.each[i].busy(), after.each[i].busy());
        const double all = busy + since(before.each[i].idle, after.each[i].idle);
        if (all <= 0)
            continue;
        use.busy_percent.back() = 100 * busy / all;
        use.busiest_cpu_percent = std::max(use.busiest_cpu_percent, 100 * busy / all);
    }
    const auto count = [](std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); };
    use.context_switches = count(before.context_switches, after.context_switches);
    use.agent_voluntary_switches =
        count(before.agent_voluntary_switches, after.agent_voluntary_switches);
    use.agent_involuntary_switches =
        count(before.agent_involuntary_switches, after.agent_involuntary_switches);
    use.agent_user_s = since(before.agent_user, after.agent_user);
    use.agent_system_s = since(before.agent_system, after.agent_system);
    return use;
}

} // namespace knobscope::agent
