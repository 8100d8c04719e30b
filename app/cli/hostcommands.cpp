// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/backgroundjob.h"
#include "app/cli/commands.h"
#include "app/cli/runreporter.h"
#include "core/run/agentcalls.h"
#include "core/run/preflight.h"

namespace knobscope::cli {

namespace {

HostSpec hostNamed(const QString& name) {
    HostSpec host;
    if (name == QLatin1String("local"))
        host.local = true;
    else
        host.ssh = name;
    return host;
}

QString stateText(Check::State state) {
    switch (state) {
    case Check::State::Ok:
        return QStringLiteral("ok");
    case Check::State::Warning:
        return QStringLiteral("warning");
    case Check::State::Failed:
        break;
    }
    return QStringLiteral("FAILED");
}

/// What a dead agent had left, as the new one reports it when it starts.
int printRecovered(Console& console, HostSession& host) {
    int lost = 0;
    for (const protocol::UndoReport& undo : host.hello().recovered) {
        if (undo.restored) {
            console.print(QStringLiteral("%1: %2 is back to %3")
                              .arg(host.label(), QString::fromStdString(undo.name),
                                   QString::fromStdString(undo.original)));
        } else {
            console.error(undoFailureText(host.label(), undo));
            ++lost;
        }
    }
    // Knobs of a run that lives are not left over; they are not back either.
    const auto free = agentcalls::applyKnobs(host, {}).get();
    if (!free)
        console.error(free.error());
    else if (host.hello().recovered.empty())
        console.print(QStringLiteral("%1: nothing was left to put back").arg(host.label()));
    if (!free)
        ++lost;
    return static_cast<int>(lost > 0 ? ExitStatus::KnobNotRestored : ExitStatus::AllWell);
}

} // namespace

int checkHosts(const Arguments& arguments, Console& console) {
    CancelToken cancel;
    QList<PreflightReport> reports;
    (void)runInBackground(
        console,
        [&] {
            for (const QString& name : arguments.hosts) {
                if (!cancel.cancelled())
                    reports.append(checkHost(hostNamed(name), hostOptions(arguments), cancel));
            }
            return 0;
        },
        [&] { cancel.cancel(); });
    if (cancel.cancelled())
        return static_cast<int>(ExitStatus::Cancelled);

    int status = 0;
    QList<QStringList> rows;
    QStringList failures;
    for (const PreflightReport& report : reports) {
        status = std::max(status, report.exitStatus);
        for (const Check& check : report.checks) {
            rows.append({check.host, stateText(check.state), check.title, check.detail});
            if (check.state == Check::State::Failed)
                failures.append(checkText(check));
        }
    }
    console.print(alignColumns(rows));
    for (const QString& failure : failures)
        console.error(failure);
    return status;
}

int recoverHosts(const Arguments& arguments, Console& console) {
    CancelToken cancel;
    Result<std::unique_ptr<HostSession>> session = fail(Error::Code::Cancelled, {});
    (void)runInBackground(
        console,
        [&] {
            session = HostSession::open(hostNamed(arguments.hosts.first()), hostOptions(arguments),
                                        cancel);
            return 0;
        },
        [&] { cancel.cancel(); });
    if (!session) {
        console.error(session.error());
        return statusOf(session.error());
    }
    return printRecovered(console, **session);
}

} // namespace knobscope::cli
