// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/backgroundjob.h"
#include "app/cli/commands.h"
#include "app/cli/jsondocuments.h"
#include "app/cli/runreporter.h"
#include "app/cli/texttable.h"
#include "core/run/preflight.h"
#include "core/run/recovery.h"

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

/// What a dead agent had left, as the new one tells when it starts.
int reportRecovered(const Arguments& arguments, Console& console, const Recovery& recovery) {
    const int status = static_cast<int>(recovery.status());
    const std::optional<Error>& why = recovery.error ? recovery.error : recovery.inUse;
    // Named first, as checks name theirs: the text may be about what is on the way to the host.
    const QString named = arguments.hosts.first() + QStringLiteral(": ");
    if (arguments.json)
        console.print(recoveredJson(arguments.hosts.first(), status, why ? why->text() : QString(),
                                    recovery.undone));
    else
        for (const QString& line : recoveryLines(recovery))
            console.print(named + line);
    for (const QString& line : recovery.notRestored)
        console.error(line);
    if (why)
        console.error(named + why->text());
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
    Recovery recovery;
    (void)runInBackground(
        console,
        [&] {
            recovery =
                recoverHost(hostNamed(arguments.hosts.first()), hostOptions(arguments), cancel);
            return 0;
        },
        [&] { cancel.cancel(); });
    return reportRecovered(arguments, console, recovery);
}

} // namespace knobscope::cli
