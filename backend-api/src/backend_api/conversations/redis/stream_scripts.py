"""What sessions' streams do within Redis, in one step."""

from __future__ import annotations

# A piece has one of KEYS, the index of the session (hash), and three of ARGV after the ttl: its mark, the text, the
# message. In the mark stand the expected bytes, how long the field is, the field, and what is kept of it as JSON. So
# few, as the client takes ten calls for each. Answers 1 for each that continued its text, 0 where the whole must be set
# first.
APPEND = """
local answers = {}
for piece, index in ipairs(KEYS) do
  local mark, at = ARGV[3 * piece - 1], 3 * piece - 1
  local expected, length, from = string.match(mark, '^(%d+) (%d+) ()')
  local field = string.sub(mark, from, from + length - 1)
  local text = index .. ':' .. field
  local fits = redis.call('STRLEN', text) == tonumber(expected)
  if fits then
    redis.call('APPEND', text, ARGV[at + 1])
    redis.call('HSET', index, field, string.sub(mark, from + length))
    redis.call('EXPIRE', index, ARGV[1])
    redis.call('EXPIRE', text, ARGV[1])
  end
  redis.call('PUBLISH', 'tail:' .. string.sub(index, 6), ARGV[at + 2])
  answers[piece] = fits and 1 or 0
end
return answers
"""

# KEYS: index of the session. ARGV: channel, message, 1 when nothing is being written any more, fields of ended texts.
END = """
redis.call('PUBLISH', ARGV[1], ARGV[2])
local ended = ARGV[3] == '1' and redis.call('HKEYS', KEYS[1]) or {}
for field = 4, #ARGV do ended[#ended + 1] = ARGV[field] end
for _, field in ipairs(ended) do
  redis.call('DEL', KEYS[1] .. ':' .. field)
  redis.call('HDEL', KEYS[1], field)
end
"""
