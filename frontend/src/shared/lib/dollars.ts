type Format = (value: number, options: { minimumFractionDigits: number; maximumFractionDigits?: number }) => string

/** Four digits after the point for what costs less than a cent, as it is never shown as nothing. */
export function dollars(amount: number, n: Format): string {
  const digits = amount > 0 && amount < 0.01 ? 4 : 2
  if (amount > 0 && amount < 0.0001) return `< ${n(0.0001, { minimumFractionDigits: 4 })}`
  return n(amount, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
