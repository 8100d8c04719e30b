// SPDX-License-Identifier: GPL-3.0-or-later
// Several streams of a tcp_stream or tcp_rr in one thread, by epoll.
#include "agents/agent/engine/asker.h"
#include "agents/agent/engine/watermark.h"
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
        : Flow(stream), m_course(course), m_setup(setup), m_buffers(makeBuffers(setup, true)),
          m_way(stream.socket.get(), setup.config, m_buffers.send),
          m_limit(setup.share(setup.config.limit_bytes, index)) {
        if (setup.warmup().count() == 0)
            stream.begin = stream.mark();
    }
    bool step() override {
        std::size_t bytes = m_buffers.send.size();
        if (m_limit > 0 && m_limit - m_measured < bytes)
            bytes = static_cast<std::size_t>(m_limit - m_measured);
        const ssize_t sent = m_way.give(bytes);
        if (sent < 0) {
            if (errno == EINTR || wouldBlock(errno))
                return true;
            if (errno != EPIPE || !m_course.stopping())
                failTransfer("sending to", m_setup.peerText, errno);
            m_stream.end = m_stream.mark();
            return false;
        }
        m_stream.counters.sent(static_cast<std::uint64_t>(sent));
        if (!m_stream.begin) {
            markBegin(m_stream, m_course);
            return true;
        }
        m_measured += static_cast<std::uint64_t>(sent);
        if (m_limit == 0 || m_measured < m_limit)
            return true;
        ::shutdown(m_stream.socket.get(), SHUT_WR);
        m_stream.end = m_stream.mark();
        return false;
    }
    [[nodiscard]] bool wantsRoom() const override { return true; }

private:
    Course& m_course;
    const Setup& m_setup;
    FlowBuffers m_buffers;
    SendWay m_way;
    const std::uint64_t m_limit;
    std::uint64_t m_measured = 0;
};

class ReceiveFlow : public Flow {
public:
    ReceiveFlow(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer)
        : Flow(stream), m_course(course), m_setup(setup), m_buffer(buffer),
          m_way(stream.socket.get(), setup.config), m_mark(stream.socket.get(), setup.config) {}
    bool step() override {
        m_course.begin();
        if (!m_stream.begin && m_setup.warmup().count() == 0)
            m_stream.begin = m_stream.mark();
        const ssize_t got = m_way.take(m_buffer.data(), m_buffer.size(), false);
        if (got == 0) {
            m_stream.end = m_stream.mark();
            return false;
        }
        if (got < 0) {
            if (errno != EINTR && !wouldBlock(errno))
                failTransfer("receiving from", m_setup.peerText, errno);
            return true;
        }
        m_stream.counters.received(static_cast<std::uint64_t>(got));
        m_mark.took(static_cast<std::size_t>(got));
        if (m_stream.begin)
            m_stream.receiveSizes.add(static_cast<std::uint64_t>(got));
        else
            markBegin(m_stream, m_course);
        return true;
    }
    [[nodiscard]] bool wantsRoom() const override { return false; }

private:
    Course& m_course;
    const Setup& m_setup;
    std::vector<char>& m_buffer; ///< of the thread
    ReceiveWay m_way;
    Watermark m_mark;
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
        : Flow(stream), m_course(course), m_setup(setup), m_buffers(makeBuffers(setup, false)),
          m_request(m_buffers.receive), m_response(m_buffers.send),
          m_way(stream.socket.get(), setup.config) {}
    bool step() override {
        m_course.begin();
        if (!m_stream.begin && m_setup.warmup().count() == 0)
            m_stream.begin = m_stream.mark();
        for (;;) {
            if (!m_owes) {
                const auto got = m_request.receive(m_stream, m_way, false, m_setup.peerText);
                if (got == Message::Received::kNotYet)
                    return true;
                if (got == Message::Received::kEnd)
                    break;
            }
            m_owes = !m_response.send(m_stream, MSG_DONTWAIT, m_setup.peerText);
            if (m_owes)
                return true;
            m_stream.counters.transaction();
            markBegin(m_stream, m_course);
        }
        if (m_request.begun())
            failEarlyEnd(m_setup.peerText);
        m_stream.end = m_stream.mark();
        return false;
    }
    [[nodiscard]] bool wantsRoom() const override { return m_owes; }

private:
    Course& m_course;
    const Setup& m_setup;
    FlowBuffers m_buffers;
    Message m_request;
    Message m_response;
    ReceiveWay m_way;
    bool m_owes = false; ///< a response that is not whole in the socket
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
