// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/model/run.h"
#include "core/run/preflight.h"
#include "core/run/runstore.h"

#include <QObject>

namespace knobscope {

/// Exit statuses of the headless program; also how a run ended.
enum class ExitStatus {
    AllWell = 0,
    SamplesFailed = 1,
    BadInput = 2,
    HostUnusable = 3,
    KnobNotRestored = 4,
    Cancelled = 130,
};

struct RunProgress {
    int done = 0;
    int planned = 0; ///< the most there can be; falls as cells reach their target
    double elapsedSeconds = 0;
    double remainingSeconds = 0; ///< from the pace so far
};

struct RunOutcome {
    qint64 run = 0;
    ExitStatus status = ExitStatus::AllWell;
    QString message;
    QStringList notRestored; ///< "host1: sysctl:net.ipv4.tcp_rmem should be set to ... by hand"
};

/// What is being measured now.
struct SampleStart {
    int cell = 0;
    int block = 0;
    int attempt = 0;
    QString label;          ///< cellLabel()
    QList<KnobState> knobs; ///< as read back
};

/// Throughput so far in the current sample at one side, over all its hosts.
struct LiveInterval {
    Side side = Side::Receiver;
    double seconds = 0;
    double mbitPerSecond = 0;
    double transactionsPerSecond = 0;
};

/// Carries out one experiment: connects all hosts, applies knobs, measures, stores, puts every
/// knob back. Lives in its own thread: execute() blocks there until the end; signals cross to the
/// receiver's thread as values. The store belongs to that thread too.
class RunController : public QObject {
    Q_OBJECT
public:
    explicit RunController(HostOptions options, QObject* parent = nullptr);
    ~RunController() override;

    /// Cells with these values, which preflight() has found, are not measured: each gets a failed
    /// sample that says why. Before execute() or resume().
    void leaveOut(const QList<RefusedValue>& refused) { m_refused = refused; }
    /// Runs a new experiment.
    RunOutcome execute(const Experiment& experiment, RunStore& store);
    /// Goes on with a stored run: samples already measured stay, the rest follow in the order
    /// they would have had.
    RunOutcome resume(qint64 run, RunStore& store);

    /// From any thread: stops the traffic, puts the knobs back, ends with Cancelled.
    void requestStop();

signals:
    void runStarted(qint64 run, int cells);
    void phaseChanged(const QString& text); ///< "Connecting to host1"
    void sampleStarted(const knobscope::SampleStart& sample);
    void intervalMeasured(const knobscope::LiveInterval& interval);
    void sampleFinished(const knobscope::SampleRecord& sample); ///< already stored
    void progressed(const knobscope::RunProgress& progress);
    void logged(const QString& line);
    void finished(const knobscope::RunOutcome& outcome);

private:
    RunOutcome refuse(qint64 run, const Error& error);

    HostOptions m_options;
    CancelToken m_cancel;
    QList<RefusedValue> m_refused;
};

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::RunProgress)
Q_DECLARE_METATYPE(knobscope::RunOutcome)
Q_DECLARE_METATYPE(knobscope::SampleStart)
Q_DECLARE_METATYPE(knobscope::LiveInterval)
