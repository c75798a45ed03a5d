"""Redis scripts of the sessions' streams, each an atomic step."""

from __future__ import annotations

# Each piece has one of KEYS, the session's index (a hash), and after the ttl three of ARGV: its mark, the text and the
# message. The mark holds the expected size in bytes, the length of the field's name, the name, and its value as JSON.
# These are one argument, as the client makes ten calls for each. Returns 1 for each piece that continued its text, and
# 0 if the whole text must be set first.
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

# KEYS: index of the session. ARGV: channel, message, 1 if nothing is being written any more, fields of ended texts.
END = """
redis.call('PUBLISH', ARGV[1], ARGV[2])
local ended = ARGV[3] == '1' and redis.call('HKEYS', KEYS[1]) or {}
for field = 4, #ARGV do ended[#ended + 1] = ARGV[field] end
for _, field in ipairs(ended) do
  redis.call('DEL', KEYS[1] .. ':' .. field)
  redis.call('HDEL', KEYS[1], field)
end
"""
