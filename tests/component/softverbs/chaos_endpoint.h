#pragma once

// Queue pairs in the chaos, and what they share of a device.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "chaos_plan.h"
#include "chaos_stream.h"

namespace rocelane::softverbs_test {

class Endpoint;

// What the queue pairs of one device share: memory, completion queues, perhaps receives.
class Station {
 public:
  Station(ibv_context* context, const ChaosPlan& plan);
  ~Station();
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  // Fresh memory, all zeros.
  Area claim(uint32_t bytes);
  uint32_t key() const { return region_->lkey; }
  uint64_t new_id() { return ++ids_; }

  // Hands what has completed to the endpoints.
  void poll();
  void post_shared_receive();
  bool shares_receives() const { return shared_ != nullptr; }
  size_t shared_receives_left() const { return shared_receives_.size(); }
  // What nobody may write to any more.
  void retire(const Area& area);
  void check_end() const;

  ibv_gid gid() const { return gid_; }

 private:
  friend class Endpoint;

  void take(const ibv_wc& completion);

  ibv_context* context_;
  ibv_gid gid_{};
  uint8_t* memory_;
  size_t used_ = 0;
  uint64_t ids_ = 0;
  ibv_pd* domain_;
  ibv_mr* region_;
  ibv_cq *send_queue_, *receive_queue_;
  ibv_srq* shared_ = nullptr;
  uint32_t shared_depth_ = 0;
  std::map<uint64_t, Receive> shared_receives_;
  std::map<uint32_t, Endpoint*> endpoints_;  // by queue pair number
  std::vector<Area> retired_;
};

class Endpoint {
 public:
  Endpoint(Station& station, const LanePlan& plan);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  void connect(const Endpoint& peer, std::shared_ptr<Stream> outgoing,
               std::shared_ptr<Stream> incoming, uint32_t psn, uint32_t peer_psn);
  // `sins`: now and then something that must fail.
  void post_random(Dice& dice, Endpoint& peer, bool sins);
  // A last request with a completion when there is none, so that all before it are known to end.
  void post_last(Dice& dice, Endpoint& peer);
  void post_receive();
  // One more, when there may be too few for what is under way.
  void post_receives_wanted();

  // The queue pair goes to the error state; its completions follow.
  void stop();
  // To RESET, or destroyed and created again; all completions have been taken before.
  void reset(bool anew);
  // The send queue stops after what was begun, or goes on.
  void pause();
  void go_on();
  // Looks whether the queue pair has failed; all completions have been taken before.
  void look();
  bool failed() const { return failed_; }

 private:
  friend class Station;

  void create();
  void destroy();
  int modify(ibv_qp_attr& attributes, int mask);
  void note_failure();
  void take_sent(const ibv_wc& completion);
  void take_received(const ibv_wc& completion);
  Receive claim_receive(uint64_t id);
  bool choose_known_data(Dice& dice, Request& request) const;
  Request random_request(Dice& dice, Endpoint& peer);
  void sin(Dice& dice, Request& request);
  void post(Dice& dice, const Request& request, const Endpoint& peer);

  Station& station_;
  LanePlan plan_;
  ibv_qp* pair_ = nullptr;
  std::shared_ptr<Stream> outgoing_, incoming_;
  std::deque<Receive> receives_;  // its own, posted
  uint32_t silent_ = 0;           // requests without a completion, in a row
  bool failed_ = false, receives_flushed_ = false;
};

}  // namespace rocelane::softverbs_test
