// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/fault/hostreading.h"
#include "tests/fault/ledger.h"
#include "tests/fault/strikes.h"

#include <QDateTime>
#include <QElapsedTimer>

#include <map>
#include <memory>
#include <optional>

namespace knobscope::test {

/// Random kills of everything that takes part in runs on a lab. After each: every knob of every
/// host is as before the campaign, every sample that was reported is in the database as it was
/// reported, and the run can be resumed; each run is brought to its end at last. One thread.
class Campaign {
public:
    Campaign(quint32 seed, int kills) : m_kills(kills), m_deck(seed) {}

    /// Exit status: 0 when nothing was wrong.
    [[nodiscard]] int run();

private:
    /// What came of one strike.
    struct Blow {
        Strike strike;
        bool knobsSet = false;        ///< on the host that was hit, at that moment
        std::optional<qint64> backMs; ///< until the knobs were back with the program out of the way
        bool byPerson = false;        ///< and it took `recover` or `resume`
    };

    // campaign.cpp: the course of it
    [[nodiscard]] bool bringUp();
    void strikeOnce();
    [[nodiscard]] bool reachMoment(const Strike& strike, Striker& striker);
    [[nodiscard]] bool awaitRun();
    void finishRun();
    void verifyFinished(qint64 run);
    void verifyEnd(int status);
    [[nodiscard]] bool mustWait(int status);
    void startProgram();
    void summarize() const;

    // aftermath.cpp: what follows a strike
    void follow(Blow& blow, Striker& striker);
    void waitForHost(Blow& blow, Striker& striker);
    void goOn(Striker& striker);
    void settle(Blow& blow, Striker& striker);
    void recover(Blow& blow);
    void recoverHost(const QString& host);
    void resumeAndStop();
    void mendWhenDue(Striker& striker);
    [[nodiscard]] bool measuredSince(const QDateTime& moment);
    /// Of the program: its exit status, -1 when it was killed; takes down what it has reported.
    int endOfProgram(bool killed);
    void check();
    [[nodiscard]] QStringList notBack();
    [[nodiscard]] QStringList notBack(const QString& host);
    void violated(const QString& what);

    // selfproof.cpp: the checks can fail
    void proveReading();
    void proveLedger();

    const int m_kills;
    StrikeDeck m_deck;
    Lab m_lab;
    std::unique_ptr<LabRun> m_files;
    std::unique_ptr<Ledger> m_ledger;
    std::map<QString, std::unique_ptr<HostReader>> m_readers;
    QMap<QString, HostValues> m_before;
    QString m_experiment;
    std::unique_ptr<CliProcess> m_program;
    qint64 m_run = 0; ///< the unfinished run; 0: there is none
    int m_strikesOfRun = 0;
    int m_runsFinished = 0;
    int m_waits = 0; ///< programs refused because a dead run's guardian had the host still
    qint64 m_lastFinished = 0;
    QElapsedTimer m_struck;
    QDateTime m_struckAt;
    QList<Blow> m_blows;
    QStringList m_violations;
};

} // namespace knobscope::test
