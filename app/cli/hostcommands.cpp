// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/backgroundjob.h"
#include "app/cli/commands.h"
#include "app/cli/jsondocuments.h"
#include "app/cli/runreporter.h"
#include "app/cli/texttable.h"
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

/// What a dead agent had left, as the new one reports it when it starts.
void printUndone(Console& console, const QString& host,
                 const std::vector<protocol::UndoReport>& undone) {
    for (const protocol::UndoReport& undo : undone) {
        if (undo.restored)
            console.print(QStringLiteral("%1: %2 is back to %3")
                              .arg(host, QString::fromStdString(undo.name),
                                   QString::fromStdString(undo.original)));
    }
    if (undone.empty())
        console.print(QStringLiteral("%1: nothing was left to put back").arg(host));
}

int reportRecovered(const Arguments& arguments, Console& console, HostSession& host) {
    const auto& undone = host.hello().recovered;
    QStringList errors;
    for (const protocol::UndoReport& undo : undone) {
        if (!undo.restored)
            errors.append(undoFailureText(host.label(), undo));
    }
    // Knobs of a run that lives are not left over; they are not back either.
    const auto free = agentcalls::claim(host, false).get();
    int status =
        static_cast<int>(errors.isEmpty() ? ExitStatus::AllWell : ExitStatus::KnobNotRestored);
    if (!free) {
        if (errors.isEmpty())
            status = static_cast<int>(ExitStatus::HostUnusable);
        errors.append(QStringLiteral("%1: %2").arg(host.label(), free.error().text()));
    }
    if (arguments.json)
        console.print(recoveredJson(arguments.hosts.first(), status,
                                    free ? QString() : free.error().text(), undone));
    else if (free || !undone.empty())
        printUndone(console, host.label(), undone);
    for (const QString& error : errors)
        console.error(error);
    return status;
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
    for (const PreflightReport& report : reports)
        status = std::max(status, report.exitStatus);
    console.print(arguments.json ? checksJson(arguments.hosts, reports)
                                 : wrapped(checksTable(reports, console.width()), console.width()));
    for (const PreflightReport& report : reports) {
        for (const Check& check : report.checks) {
            if (check.state == Check::State::Failed)
                console.error(checkText(check));
        }
    }
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
    if (session)
        return reportRecovered(arguments, console, **session);
    const Error& error = session.error();
    if (arguments.json)
        console.print(recoveredJson(arguments.hosts.first(), statusOf(error), error.text(), {}));
    // Named first, as checks name theirs: the text may be about what is on the way to the host.
    console.error(arguments.hosts.first() + QStringLiteral(": ") + error.text());
    return statusOf(error);
}

} // namespace knobscope::cli
