// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/run/runcontroller.h"

#include <QThread>

#include <functional>

namespace knobscope {

class RunRepository;

/// One run going on behind the window. Lives on the GUI thread; controller and database connection
/// live on a thread of their own, and what they tell arrives here as values. At most one run at a
/// time.
class RunSession : public QObject {
    Q_OBJECT
public:
    explicit RunSession(const AppContext& context, QObject* parent = nullptr);
    ~RunSession() override; ///< stops, and waits until the knobs are back

    /// No effect while running.
    /// `leftOut`: as RunController::leaveOut().
    void start(const Experiment& experiment, const QList<RefusedValue>& leftOut = {});
    void resume(qint64 run);
    /// Asks for the stop; finished() follows when the knobs are back.
    void stop();
    [[nodiscard]] bool running() const { return m_controller != nullptr; }
    [[nodiscard]] bool stopping() const { return m_stopping; }
    /// The run that is going on; 0 before it has a number, and when there is none.
    [[nodiscard]] qint64 run() const { return m_run; }

signals:
    /// Before anything else: what is measured, and the samples there already are.
    void prepared(const knobscope::Experiment& experiment,
                  const QList<knobscope::SampleRecord>& samples);
    void runStarted(qint64 run, int cells);
    void phaseChanged(const QString& text);
    void sampleStarted(const knobscope::SampleStart& sample);
    void intervalMeasured(const knobscope::LiveInterval& interval);
    void sampleFinished(const knobscope::SampleRecord& sample);
    void progressed(const knobscope::RunProgress& progress);
    void logged(const QString& line);
    void stopRequested();
    void finished(const knobscope::RunOutcome& outcome);

private:
    using Work = std::function<RunOutcome(RunController&, RunRepository&)>;
    void launch(Work work);
    void end(const RunOutcome& outcome);

    const AppContext& m_context;
    QThread m_thread;
    RunController* m_controller = nullptr; ///< on m_thread
    qint64 m_run = 0;
    bool m_stopping = false;
};

} // namespace knobscope
