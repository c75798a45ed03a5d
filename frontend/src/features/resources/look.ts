/** How a field of these forms looks. */
export const field =
  'h-9 w-full rounded-control border border-line-strong bg-raised px-3 text-sm outline-none focus:border-accent max-wide:h-10'
