// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QPromise>
#include <QThreadPool>

#include <memory>

namespace knobscope {

/// Runs `work` on a thread of the pool and hands what it returns to `done` on the thread of
/// `context`. When `context` dies first, `done` is not called. `work` must not throw and must hold
/// values only, since it may outlive everything but the pool.
template<typename Work, typename Done>
void startJob(QThreadPool& pool, QObject* context, Work work, Done done) {
    using Outcome = std::invoke_result_t<Work>;
    auto promise = std::make_shared<QPromise<Outcome>>();
    auto* watcher = new QFutureWatcher<Outcome>(context);
    QObject::connect(watcher, &QFutureWatcherBase::finished, context,
                     [watcher, done = std::move(done)]() mutable {
                         watcher->deleteLater();
                         if (watcher->future().resultCount() > 0)
                             done(watcher->result());
                     });
    watcher->setFuture(promise->future());
    pool.start([promise, work = std::move(work)]() mutable {
        promise->start();
        promise->addResult(work());
        promise->finish();
    });
}

} // namespace knobscope
