// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/lab/labrun.h"

#include <random>

namespace knobscope::test {

/// What is hit.
enum class Fault {
    Controller,     ///< SIGKILL to knobscope-cli
    Agent,          ///< SIGKILL to the worker
    Guardian,       ///< SIGKILL; the worker follows
    Both,           ///< SIGKILL to worker and guardian
    Sshd,           ///< the host's sshd with all sessions; started again later
    Link,           ///< the control network is cut for a while
    StopController, ///< SIGSTOP; goes on, or is killed, later
    StopAgent,      ///< SIGSTOP to the worker, for good
    StopGuardian,   ///< SIGSTOP; goes on, or is killed, later
    StopBoth,       ///< SIGSTOP to worker and guardian, as when a host is paused
};

/// What becomes of the program that measures.
enum class Then {
    GoesOn, ///< it is left alone until it has measured again or gives up, and stopped then
    Waits,  ///< it stands still until the host's knobs are back, so that it cannot set them again
    Dies,   ///< it is killed too
};

struct Strike {
    Fault fault = Fault::Controller;
    QString host;
    Then then = Then::Dies;
    bool early = false; ///< the moment counts from the program's start, else from the run's
    int momentMs = 0;
    int mendMs = 0;        ///< from the strike until what can be mended is mended
    bool killed = false;   ///< what was stopped is killed instead of let go on
    bool byResume = false; ///< where a person must see to the knobs: resume, not recover

    /// Whether nobody is left on the host who would put knobs back.
    [[nodiscard]] bool endsGuardian() const;
    [[nodiscard]] QString text() const;
};

[[nodiscard]] QString faultName(Fault fault);

/// Draws strikes: all kinds come equally often, everything else is chance.
class StrikeDeck {
public:
    explicit StrikeDeck(quint32 seed) : m_random(seed) {}
    [[nodiscard]] Strike draw(const Lab& lab);

private:
    [[nodiscard]] int number(int from, int to);
    void choose(Strike& strike);

    std::mt19937 m_random;
    QList<Fault> m_left;
};

/// Does the damage, and mends it.
class Striker {
public:
    Striker(const Lab& lab, const Strike& strike) : m_lab(lab), m_strike(strike) {}

    /// Whether what is to be hit is there.
    [[nodiscard]] bool find();
    /// False: it is gone. A controller is struck by its process number.
    [[nodiscard]] bool strike(pid_t controller);
    /// Once; true from then on.
    [[nodiscard]] bool mend();
    [[nodiscard]] bool mended() const { return m_mended; }
    [[nodiscard]] const Strike& what() const { return m_strike; }

private:
    [[nodiscard]] bool signal(pid_t agent, int number) const;

    const Lab& m_lab;
    const Strike m_strike;
    pid_t m_guardian = 0;
    pid_t m_worker = 0;
    pid_t m_controller = 0;
    bool m_mended = false;
};

} // namespace knobscope::test
