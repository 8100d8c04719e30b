// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

/// Offloads of an interface ("ethtool -K"): what their names mean, how a group reads.
namespace knobscope::agent {

struct Feature {
    std::string name; ///< the kernel's: "tx-tcp-segmentation"
    bool changeable = false;
    bool wanted = false; ///< what was last asked for
    bool active = false; ///< what the device does
};
using Features = std::vector<Feature>;

/// The features that a knob's name stands for. Either the kernel's own name, or one of the names
/// of ethtool -K, which may stand for a group: "tso" and "tcp-segmentation-offload" for all
/// tx-tcp*-segmentation. Empty: the interface knows no such feature.
[[nodiscard]] Features featuresOf(const Features& all, const std::string& name);

/// "on", "off", or for a group whose changeable members differ "on (NAME NAME...)" with those that
/// are on, so that writing it puts back exactly that.
[[nodiscard]] std::string featureValue(const Features& group);

/// Whether the interface can change none of them.
[[nodiscard]] bool isFixed(const Features& group);

/// Which features to switch to reach `value`; throws AgentError(kKnob) for a value that is none,
/// and when a fixed feature would have to change. `what` names the knob in messages.
[[nodiscard]] std::map<std::string, bool>
featureChanges(const Features& group, const std::string& value, const std::string& what);

/// "on" for "1", "true" and so on; the text itself when it is not such a word.
[[nodiscard]] std::string normalSwitch(const std::string& value);

/// The short name that ethtool -K has for each group, with the group's features.
[[nodiscard]] std::vector<std::string> featureShortNames();

/// All features of the interface: through ethtool netlink, or by ioctl where the kernel has none.
/// Throws AgentError(kKnob).
[[nodiscard]] Features readFeatures(const std::string& interface);
[[nodiscard]] Features readFeaturesByIoctl(const std::string& interface);
/// Asks for the changes, all in one call. A device may still refuse one in silence: read back.
void writeFeatures(const std::string& interface, const std::map<std::string, bool>& changes);
void writeFeaturesByIoctl(const std::string& interface, const std::map<std::string, bool>& changes);

} // namespace knobscope::agent
