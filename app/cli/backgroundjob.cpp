// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/backgroundjob.h"

#include "app/cli/stopsignals.h"

#include <QCoreApplication>
#include <QThread>

#include <memory>

namespace knobscope::cli {

int runInBackground(Console& console, const std::function<int()>& work,
                    const std::function<void()>& stop) {
    StopSignals signals_;
    QObject::connect(&signals_, &StopSignals::received, &signals_, [&](int count) {
        if (count > 1) {
            console.note(QStringLiteral("Still putting the knobs back; please wait."));
            return;
        }
        console.note(QStringLiteral("Stopping and putting the knobs back..."));
        stop();
    });
    int status = 0;
    const std::unique_ptr<QThread> thread(QThread::create([&] { status = work(); }));
    // What the work has reported before its end stands before this in the event queue.
    QObject::connect(thread.get(), &QThread::finished, &signals_, &QCoreApplication::quit,
                     Qt::QueuedConnection);
    thread->start();
    QCoreApplication::exec();
    thread->wait();
    return status;
}

} // namespace knobscope::cli
