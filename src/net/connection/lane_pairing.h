#pragma once

// Over which pairs of ports the data lanes of a connection go. A rail is one of an end's own ports,
// by its number in the connection. Pure: the dialer puts lanes on its rails, the listener finds a
// rail of its own for each of them, and neither needs to know more than it is told.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocelane::net {

// The dialer's rail of every data lane, neighbours on different rails as far as possible. Lanes are
// in proportion to the rails' speeds, so that equal parts of a message load all ports alike; a port
// that is too slow for one of the most lanes there can be gets none. `peer_rails`: of the listener,
// each of which shall get a lane, too. `lanes_a_rail`: where all are equally fast.
// Needs speeds of 1 or more, 1 to kMostRails of them.
std::vector<uint8_t> spread_lanes(std::span<const int> speeds, size_t peer_rails, int lanes_a_rail);

// The listener's rail of every lane, whose rail at the dialer is given: both ends' rails are laid
// out side by side, by number, and each lane takes what lies opposite. So equal ports meet those
// with their own number, and the listener's rails get lanes in proportion to their speeds.
// Needs speeds of 1 or more, 1 to kMostRails of them.
std::vector<uint8_t> match_lanes(std::span<const uint8_t> peer_rails, std::span<const int> speeds);

}  // namespace rocelane::net
