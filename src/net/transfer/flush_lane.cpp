#include "net/transfer/flush_lane.h"

#include <algorithm>

namespace rocelane::net {

Result<std::vector<FlushLane>> FlushLane::create_all(const LaneSet& lanes,
                                                     const Agreement& agreement) {
  std::vector<FlushLane> flush_lanes;
  for (const Lane& lane : lanes.data()) {
    const bool is_new =
        std::none_of(flush_lanes.begin(), flush_lanes.end(),
                     [&lane](const FlushLane& known) { return known.rail_ == lane.rail; });
    if (!is_new) {
      continue;
    }
    auto created = create(lanes, agreement.paths, agreement.paths.route(lane.rail, lane.peer.rail));
    if (!created) {
      return std::move(created).error();
    }
    flush_lanes.push_back(std::move(*created));
  }
  return flush_lanes;
}

Result<FlushLane> FlushLane::create(const LaneSet& lanes, const LanePaths& paths,
                                    const Route& route) {
  const std::shared_ptr<const Port>& port = lanes.ports()[route.rail];
  auto landing = RegisteredBuffer::create(port, 1);
  if (!landing) {
    return std::move(landing).error();
  }
  auto pair = verbs::QueuePair::create(port->domain(), lanes.completions().queue(route.rail),
                                       {kDepth, 1, 0});
  if (!pair) {
    return std::move(pair).error();
  }
  verbs::QueuePairPath path = common_path(*port, paths, route);
  std::copy(route.local_gid.gid.begin(), route.local_gid.gid.end(), path.remote_gid.raw);
  path.remote_queue_pair = pair->number();
  path.peer_may_read = true;
  int error_number = 0;
  for (Status status : {pair->to_init(path), pair->to_ready_to_receive(path, &error_number),
                        pair->to_ready_to_send(path)}) {
    if (!status) {
      return std::move(status).error();
    }
  }
  return FlushLane(route.rail, std::move(*landing), std::move(*pair));
}

int FlushLane::post(uint64_t address, uint32_t key, uint64_t work_id) {
  ibv_sge piece{landing_.address(), 1, landing_.local_key()};
  ibv_send_wr work{};
  work.wr_id = work_id;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_READ;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = address;
  work.wr.rdma.rkey = key;
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(pair_.get(), &work, &refused);
}

}  // namespace rocelane::net
