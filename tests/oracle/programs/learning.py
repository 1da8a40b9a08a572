"""Reinforcement learning: policy gradients, actor-critic, DQN, PPO; actions and states are given, not drawn."""

import random
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical, Independent, Normal, kl_divergence


class CartPole:
    """A toy with the interface of a gym environment."""

    def __init__(self, seed):
        self.r = np.random.RandomState(seed)

    def reset(self):
        self.t = 0
        return self.r.randn(4), {}

    def step(self, action):
        self.t += 1
        return self.r.randn(4), 1.0 if action else 0.5, self.t >= 6, False, {}


def reinforce(start):
    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1 = nn.Linear(4, 16)
            self.dropout = nn.Dropout(p=0.0)
            self.affine2 = nn.Linear(16, 2)
            self.saved_log_probs = []
            self.rewards = []

        def forward(self, x):
            x = F.relu(self.dropout(self.affine1(x)))
            return F.softmax(self.affine2(x), dim=1)

    env = CartPole(0)
    policy = start(Policy())
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    eps = np.finfo(np.float32).eps.item()
    losses = []
    for i_episode in range(4):
        state, _ = env.reset()
        for t in range(1, 100):
            state = torch.from_numpy(state).float().unsqueeze(0)
            probs = policy(state)
            m = Categorical(probs)
            action = torch.tensor([(t + i_episode) % 2])
            policy.saved_log_probs.append(m.log_prob(action))
            state, reward, done, _, _ = env.step(action.item())
            policy.rewards.append(reward)
            if done:
                break
        R, policy_loss, returns = 0, [], deque()
        for r in policy.rewards[::-1]:
            R = r + 0.99 * R
            returns.appendleft(R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + eps)
        for log_prob, R in zip(policy.saved_log_probs, returns):
            policy_loss.append(-log_prob * R)
        optimizer.zero_grad()
        policy_loss = torch.cat(policy_loss).sum()
        policy_loss.backward()
        optimizer.step()
        losses.append(policy_loss.item())
        del policy.rewards[:]
        del policy.saved_log_probs[:]
    return losses


def actor_critic(start):
    SavedAction = namedtuple("SavedAction", ["log_prob", "value"])

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1 = nn.Linear(4, 16)
            self.action_head = nn.Linear(16, 2)
            self.value_head = nn.Linear(16, 1)

        def forward(self, x):
            x = F.relu(self.affine1(x))
            return F.softmax(self.action_head(x), dim=-1), self.value_head(x)

    env = CartPole(1)
    model = start(Policy())
    optimizer = optim.Adam(model.parameters(), lr=3e-2)
    losses = []
    for i_episode in range(4):
        state, _ = env.reset()
        saved_actions, rewards = [], []
        for t in count():
            probs, state_value = model(torch.from_numpy(state).float())
            m = Categorical(probs)
            action = torch.argmax(probs) if t % 2 else torch.tensor(t % 2)
            saved_actions.append(SavedAction(m.log_prob(action), state_value))
            state, reward, done, _, _ = env.step(action.item())
            rewards.append(reward)
            if done:
                break
        R, policy_losses, value_losses, returns = 0, [], [], []
        for r in rewards[::-1]:
            R = r + 0.99 * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-7)
        for (log_prob, value), R in zip(saved_actions, returns):
            advantage = R - value.item()
            policy_losses.append(-log_prob * advantage)
            value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
        optimizer.zero_grad()
        loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def dqn(start):
    Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))

    class ReplayMemory:
        def __init__(self, capacity):
            self.memory = deque([], maxlen=capacity)

        def push(self, *args):
            self.memory.append(Transition(*args))

        def sample(self, batch_size):
            return random.sample(self.memory, batch_size)

        def __len__(self):
            return len(self.memory)

    class DQN(nn.Module):
        def __init__(self, n_observations, n_actions):
            super(DQN, self).__init__()
            self.layer1 = nn.Linear(n_observations, 16)
            self.layer2 = nn.Linear(16, 16)
            self.layer3 = nn.Linear(16, n_actions)

        def forward(self, x):
            x = F.relu(self.layer1(x))
            return self.layer3(F.relu(self.layer2(x)))

    random.seed(0)
    device = torch.device(
        "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    )
    policy_net = start(DQN(4, 2)).to(device)
    target_net = DQN(4, 2).to(device)
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=1e-2, amsgrad=True)
    memory, env, losses = ReplayMemory(100), CartPole(2), []
    for episode in range(3):
        state, info = env.reset()
        state = torch.tensor(state, dtype=torch.float32, device=device).unsqueeze(0)
        for t in count():
            with torch.no_grad():
                action = policy_net(state).max(1).indices.view(1, 1)
            observation, reward, terminated, truncated, _ = env.step(action.item())
            reward = torch.tensor([reward], device=device)
            next_state = None
            if not terminated:
                next_state = torch.tensor(observation, dtype=torch.float32, device=device).unsqueeze(0)
            memory.push(state, action, next_state, reward)
            state = next_state
            if len(memory) >= 4:
                batch = Transition(*zip(*memory.sample(4)))
                non_final_mask = torch.tensor(
                    tuple(map(lambda s: s is not None, batch.next_state)), device=device, dtype=torch.bool
                )
                state_batch, action_batch = torch.cat(batch.state), torch.cat(batch.action)
                reward_batch = torch.cat(batch.reward)
                state_action_values = policy_net(state_batch).gather(1, action_batch)
                next_state_values = torch.zeros(4, device=device)
                non_final = [s for s in batch.next_state if s is not None]
                if non_final:
                    with torch.no_grad():
                        next_state_values[non_final_mask] = target_net(torch.cat(non_final)).max(1).values
                expected = (next_state_values * 0.9) + reward_batch
                loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
                optimizer.step()
                losses.append(loss.item())
            target_state, policy_state = target_net.state_dict(), policy_net.state_dict()
            for key in policy_state:
                target_state[key] = policy_state[key] * 0.1 + target_state[key] * 0.9
            target_net.load_state_dict(target_state)
            if terminated or truncated:
                break
    return losses


def ppo(start):
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.critic = nn.Sequential(self.init(nn.Linear(3, 16)), nn.Tanh(), self.init(nn.Linear(16, 1), std=1.0))
            self.actor_mean = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
            self.actor_logstd = nn.Parameter(torch.zeros(1, 2))

        @staticmethod
        def init(layer, std=np.sqrt(2), bias_const=0.0):
            torch.nn.init.normal_(layer.weight, 0.0, float(std) * 0.1)
            torch.nn.init.constant_(layer.bias, bias_const)
            return layer

        def get_action_and_value(self, x, action):
            action_mean = self.actor_mean(x)
            probs = Normal(action_mean, torch.exp(self.actor_logstd.expand_as(action_mean)))
            return probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x), probs

    r = np.random.RandomState(0)
    obs, actions = torch.Tensor(r.randn(12, 3)), torch.Tensor(r.randn(12, 2))
    rewards, dones = torch.tensor(r.rand(12)).float(), torch.zeros(12)
    agent = start(Agent())
    optimizer = optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
    with torch.no_grad():
        old_logprob, _, values, old = agent.get_action_and_value(obs, actions)
        values = values.flatten()
        advantages, lastgaelam = torch.zeros_like(rewards), 0
        for t in reversed(range(12)):
            nextvalues = values[t + 1] if t < 11 else values[t]
            delta = rewards[t] + 0.99 * nextvalues * (1.0 - dones[t]) - values[t]
            advantages[t] = lastgaelam = delta + 0.99 * 0.95 * (1.0 - dones[t]) * lastgaelam
        returns = advantages + values
    losses = []
    for epoch in range(3):
        for mb_inds in np.split(np.arange(12), 3):
            newlogprob, entropy, newvalue, new = agent.get_action_and_value(obs[mb_inds], actions[mb_inds])
            ratio = (newlogprob - old_logprob[mb_inds]).exp()
            with torch.no_grad():
                approx_kl = kl_divergence(
                    Independent(Normal(old.loc[mb_inds], old.scale[mb_inds]), 1), Independent(new, 1)
                ).mean()
            mb_advantages = advantages[mb_inds]
            mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
            pg_loss = torch.max(-mb_advantages * ratio, -mb_advantages * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - returns[mb_inds]) ** 2).mean()
            loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            losses += [loss.item(), approx_kl.item()]
    return losses


def ddpg(start):
    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1, self.l2 = nn.Linear(3, 8), nn.Linear(8, 1)
            self.l2.weight.data.mul_(0.1)
            self.l2.bias.data.mul_(0.1)

        def forward(self, x):
            return 2.0 * torch.tanh(self.l2(F.relu(self.l1(x))))

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1, self.l2 = nn.Linear(4, 8), nn.Linear(8, 1)

        def forward(self, x, u):
            return self.l2(F.relu(self.l1(torch.cat([x, u], 1))))

    actor, critic = start(Actor(), Critic())
    actor_target, critic_target = Actor(), Critic()
    for target, source in ((actor_target, actor), (critic_target, critic)):
        for target_param, param in zip(target.parameters(), source.parameters()):
            target_param.data.copy_(param.data)
    actor_opt, critic_opt = optim.Adam(actor.parameters(), 1e-3), optim.Adam(critic.parameters(), 1e-2)
    r = np.random.RandomState(0)
    losses = []
    for _ in range(5):
        state, next_state = torch.FloatTensor(r.randn(8, 3)), torch.FloatTensor(r.randn(8, 3))
        action, reward = torch.FloatTensor(r.randn(8, 1)), torch.FloatTensor(r.rand(8)).view(-1, 1)
        target_Q = reward + (0.9 * critic_target(next_state, actor_target(next_state))).detach()
        critic_loss = F.mse_loss(critic(state, action), target_Q)
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        actor_loss = -critic(state, actor(state)).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        for target, source in ((actor_target, actor), (critic_target, critic)):
            for target_param, param in zip(target.parameters(), source.parameters()):
                target_param.data.copy_(0.05 * param.data + 0.95 * target_param.data)
        losses += [critic_loss.item(), actor_loss.item()]
    return losses
