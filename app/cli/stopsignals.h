// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <memory>

class QSocketNotifier;

namespace knobscope::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into a signal of the main thread's event loop, from
/// construction to destruction. One object at a time.
class StopSignals : public QObject {
    Q_OBJECT
public:
    explicit StopSignals(QObject* parent = nullptr);
    ~StopSignals() override;

signals:
    /// `count`: 1 for the first of them.
    void received(int count);

private:
    void readPipe();
    struct Handlers;
    std::unique_ptr<Handlers> m_handlers;
    std::unique_ptr<QSocketNotifier> m_notifier;
    int m_read = -1;
    int m_count = 0;
};

} // namespace knobscope::cli
