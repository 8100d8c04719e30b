// SPDX-License-Identifier: GPL-3.0-or-later
// Several streams of a tcp_stream or tcp_rr in one thread, by epoll.
#include "agents/agent/engine/asker.h"
#include "agents/agent/engine/transfer.h"
#include "agents/agent/error.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

namespace knobscope::agent {

namespace {

/// One stream's share of the thread. step() does what the socket allows, without waiting.
class Flow {
public:
    explicit Flow(Stream& stream) : m_stream(stream) {}
    virtual ~Flow() = default;
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    /// False: the stream has ended.
    virtual bool step() = 0;
    /// What to wait for next.
    [[nodiscard]] virtual bool wantsRoom() const = 0;
    /// When to look again although the socket does not stir.
    [[nodiscard]] virtual std::optional<TimePoint> nextDue() { return std::nullopt; }
    [[nodiscard]] Stream& stream() { return m_stream; }

protected:
    Stream& m_stream;
};

class SendFlow : public Flow {
public:
    SendFlow(Stream& stream, Course& course, const Setup& setup, std::size_t index)
        : Flow(stream), m_buffers(makeBuffers(setup, true)),
          m_sender(stream, course, setup, m_buffers.send, index) {}
    bool step() override { return m_sender.step(); }
    [[nodiscard]] bool wantsRoom() const override { return true; }

private:
    FlowBuffers m_buffers;
    Sender m_sender;
};

class ReceiveFlow : public Flow {
public:
    /// `buffer` is the thread's.
    ReceiveFlow(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer)
        : Flow(stream), m_receiver(stream, course, setup, buffer) {}
    bool step() override { return m_receiver.step(false); }
    [[nodiscard]] bool wantsRoom() const override { return false; }

private:
    Receiver m_receiver;
};

class AskFlow : public Flow {
public:
    AskFlow(Stream& stream, Course& course, const Setup& setup, std::size_t index)
        : Flow(stream), m_buffers(makeBuffers(setup, true)),
          m_asker(stream, course, setup, m_buffers, index) {}
    bool step() override {
        do {
            m_full = !m_asker.sendDue();
        } while (m_asker.takeResponse(false));
        if (!m_asker.finished())
            return true;
        m_asker.finish();
        return false;
    }
    [[nodiscard]] bool wantsRoom() const override { return m_full; }
    [[nodiscard]] std::optional<TimePoint> nextDue() override { return m_asker.nextDue(); }

private:
    FlowBuffers m_buffers;
    Asker m_asker;
    bool m_full = false;
};

class AnswerFlow : public Flow {
public:
    AnswerFlow(Stream& stream, Course& course, const Setup& setup)
        : Flow(stream), m_buffers(makeBuffers(setup, false)),
          m_answerer(stream, course, setup, m_buffers) {}
    bool step() override { return m_answerer.step(false); }
    [[nodiscard]] bool wantsRoom() const override { return m_answerer.owes(); }

private:
    FlowBuffers m_buffers;
    Answerer m_answerer;
};

class Loop {
public:
    Loop(std::span<Stream*> streams, Course& course, const Setup& setup,
         std::span<const std::size_t> indices)
        : m_course(course), m_epoll(::epoll_create1(EPOLL_CLOEXEC)) {
        if (!m_epoll)
            throw AgentError(protocol::errorcode::kTraffic, errnoText("epoll", errno));
        if (!setup.transactions() && !streams.front()->sends)
            m_buffer = makeBuffers(setup, false).receive;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            Stream& stream = *streams[i];
            setBlocking(stream.socket.get(), false);
            m_flows.push_back(make(stream, setup, indices[i]));
        }
        m_wanted.resize(m_flows.size(), 0);
    }

    void run() {
        m_left = m_flows.size();
        for (std::size_t i = 0; i < m_flows.size(); ++i) {
            if (m_flows[i]->stream().sends)
                advance(i);
            else
                watch(i);
        }
        std::array<epoll_event, 64> events;
        while (m_left > 0) {
            const int n = ::epoll_wait(m_epoll.get(), events.data(),
                                       static_cast<int>(events.size()), timeout());
            for (int i = 0; i < n; ++i)
                advance(static_cast<std::size_t>(events[static_cast<std::size_t>(i)].data.u64));
            if (n == 0) {
                for (std::size_t i = 0; i < m_flows.size(); ++i) {
                    if (!m_flows[i]->stream().done.load() && m_flows[i]->stream().sends)
                        advance(i);
                }
            }
        }
    }

private:
    std::unique_ptr<Flow> make(Stream& stream, const Setup& setup, std::size_t index) {
        if (setup.transactions() && stream.sends)
            return std::make_unique<AskFlow>(stream, m_course, setup, index);
        if (setup.transactions())
            return std::make_unique<AnswerFlow>(stream, m_course, setup);
        if (stream.sends)
            return std::make_unique<SendFlow>(stream, m_course, setup, index);
        return std::make_unique<ReceiveFlow>(stream, m_course, setup, m_buffer);
    }

    void advance(std::size_t i) {
        Flow& flow = *m_flows[i];
        bool goesOn = false;
        try {
            if (m_course.aborted())
                failAborted();
            goesOn = flow.step();
        } catch (const std::exception& error) {
            flow.stream().failure = error.what();
        }
        if (goesOn)
            return watch(i);
        ::epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, flow.stream().socket.get(), nullptr);
        --m_left;
        flow.stream().done.store(true);
        m_course.changed().raise();
    }

    void watch(std::size_t i) {
        const std::uint32_t wanted =
            m_flows[i]->wantsRoom() ? std::uint32_t{EPOLLIN | EPOLLOUT} : std::uint32_t{EPOLLIN};
        if (wanted == m_wanted[i])
            return;
        epoll_event event{};
        event.events = wanted;
        event.data.u64 = i;
        ::epoll_ctl(m_epoll.get(), m_wanted[i] == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
                    m_flows[i]->stream().socket.get(), &event);
        m_wanted[i] = wanted;
    }

    /// Milliseconds until a paced request is due; else now and then, for the end of the test.
    [[nodiscard]] int timeout() {
        TimePoint next = Clock::now() + std::chrono::milliseconds(50);
        for (const auto& flow : m_flows) {
            if (flow->stream().done.load())
                continue;
            if (const auto due = flow->nextDue())
                next = std::min(next, *due);
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
        return static_cast<int>(std::max<std::int64_t>(0, left));
    }

    Course& m_course;
    Fd m_epoll;
    std::vector<char> m_buffer;
    std::vector<std::unique_ptr<Flow>> m_flows;
    std::vector<std::uint32_t> m_wanted;
    std::size_t m_left = 0;
};

} // namespace

void runFlows(std::span<Stream*> streams, Course& course, const Setup& setup,
              std::span<const std::size_t> indices) {
    Loop loop(streams, course, setup, indices);
    course.awaitRelease(streams.front()->sends);
    loop.run();
}

} // namespace knobscope::agent
