# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs other traffic tools for the engine's benchmark.

Each function measures once between the two ends of a Path and returns (rate, amount): the rate in
Gbit/s or transactions a second, and the gigabytes or millions of transactions that it took, to
divide the CPU time by.
"""
import contextlib
import json
import re
import shutil
import subprocess
import time

DATAGRAM = 1472


class PeerError(Exception):
    """A tool gave no result, for instance as another program had taken its port."""


class Server:
    """A program at the receiving end, ended when the measurement is over."""

    def __init__(self, path, command, **options):
        self.process = subprocess.Popen(path.at_server(command), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def ask(path, command, pattern):
    """Runs the client until its server listens; returns the match of what it said."""
    said = ""
    for _ in range(50):
        client = subprocess.run(path.at_client(command), capture_output=True, text=True)
        said = client.stdout + client.stderr
        found = re.search(pattern, client.stdout, re.S)
        if client.returncode == 0 and found:
            return found
        time.sleep(0.1)
    raise PeerError(f"{command[0]}: {said.strip()}")


def iperf3(path, options, udp, streams):
    port = str(path.free_port())
    command = ["iperf3", "-c", path.address, "-p", port, "-J", "-t", str(options.seconds), "-P",
               str(streams)]
    if udp:
        command += ["-u", "-b", "0", "-l", str(DATAGRAM)]
    with Server(path, ["iperf3", "-s", "-B", path.address, "-p", port]):
        end = json.loads(ask(path, command, r"\{.*\"sum.*\}").group(0))["end"]  # not an error
    if not udp:
        received = end["sum_received"]
        return received["bits_per_second"] / 1e9, received["bytes"] / 1e9
    total = end["sum"]
    delivered = (total["packets"] - total["lost_packets"]) * DATAGRAM
    return delivered * 8 / total["seconds"] / 1e9, delivered / 1e9


def iperf(path, options, streams):
    port = str(path.free_port())
    command = ["iperf", "-c", path.address, "-p", port, "-y", "C", "-t", str(options.seconds), "-P",
               str(streams)]
    with Server(path, ["iperf", "-s", "-B", path.address, "-p", port]):
        lines = ask(path, command, r"\d.*").group(0).split()
    ends = [line.split(",") for line in lines]
    sums = [fields for fields in ends if fields[5] == "-1"] or ends
    return float(sums[-1][8]) / 1e9, float(sums[-1][7]) / 1e9


def nuttcp(path, options, udp, streams):
    port, data = str(path.free_port()), str(path.free_port())
    command = ["nuttcp", "-P", port, "-p", data, "-T", str(options.seconds), "-fparse"]
    command += ["-u", "-Ru", f"-l{DATAGRAM}"] if udp else ["-N", str(streams)]
    with Server(path, ["nuttcp", "-S", "--nofork", "-P", port]):
        found = ask(path, command + [path.address], r"megabytes=([0-9.]+).*?rate_Mbps=([0-9.]+)")
    return float(found.group(2)) / 1e3, float(found.group(1)) * 2**20 / 1e9


def qperf(path, options, test, size):
    port = str(path.free_port())
    command = ["qperf", path.address, "-lp", port, "-ip", str(path.free_port()), "-t",
               str(options.seconds), "-m", str(size), "-uu", test]
    kind = "latency" if test.endswith("lat") else "recv_bw" if test == "udp_bw" else "bw"
    with Server(path, ["qperf", "-lp", port]):
        value = float(ask(path, command, rf"\b{kind}\s*=\s*([0-9.,]+)").group(1).replace(",", ""))
    if kind == "latency":  # one way, in nanoseconds
        rate = 1e9 / (2 * value)
        return rate, rate * options.seconds / 1e6
    return value * 8 / 1e9, value * options.seconds / 1e9


def sockperf(path, options, tcp):
    port = str(path.free_port())
    kind = ["--tcp"] if tcp else []
    command = ["sockperf", "ping-pong", "-i", path.address, "-p", port, "-t",
               str(options.seconds), "-m", "14"] + kind
    with Server(path, ["sockperf", "server", "-i", path.address, "-p", port] + kind):
        found = ask(path, command, r"Valid Duration\] RunTime=([0-9.]+) sec;.*?"
                                   r"ReceivedMessages=([0-9]+)")
    return int(found.group(2)) / float(found.group(1)), int(found.group(2)) / 1e6


def netperf(path, options, test, *, burst=1, streams=1):
    command = ["netperf", "-H", path.address, "-P", "0", "-v", "0", "-l", str(options.seconds),
               "-t", test]
    extra = {"TCP_STREAM": ["-m", "128K"], "TCP_RR": ["-D", "-b", str(burst - 1)],
             "UDP_STREAM": ["-m", str(DATAGRAM), "-o", "REMOTE_RECV_THROUGHPUT"]}.get(test, [])
    ports = [str(path.free_port()) for _ in range(streams)]
    with contextlib.ExitStack() as servers:
        for port in ports:
            # Does not fork: the CPU time of a child that its parent does not wait for is lost.
            servers.enter_context(
                Server(path, ["netserver", "-D", "-f", "-L", path.address, "-p", port]))
        time.sleep(0.2)  # it tells nobody when it listens
        clients = [subprocess.Popen(path.at_client(command + ["-p", port, "--"] + extra),
                                    stdout=subprocess.PIPE, text=True) for port in ports]
        rate = sum(float(client.communicate()[0].split()[-1]) for client in clients)
    if test.endswith("STREAM"):
        return rate / 1e3, rate / 1e3 * options.seconds / 8
    return rate, rate * options.seconds / 1e6


def installed(*programs):
    return all(shutil.which(program) for program in programs)
