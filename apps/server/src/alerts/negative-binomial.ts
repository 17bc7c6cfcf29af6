/*
 * The tails of the negative binomial distribution: a Poisson distribution whose rate itself varies. `dispersion` is the relative
 * variance of that rate, so the variance is `mean + dispersion * mean²`.
 */

/** The probability of `count` or more. */
export function upperTail(count: number, mean: number, dispersion: number): number {
  if (count <= 0) return 1;
  if (mean <= 0) return 0;
  const size = 1 / Math.max(dispersion, leastDispersion);
  return regularizedBeta(mean / (mean + size), count, size);
}

/** The probability of `count` or fewer. */
export function lowerTail(count: number, mean: number, dispersion: number): number {
  if (mean <= 0) return 1;
  const size = 1 / Math.max(dispersion, leastDispersion);
  return regularizedBeta(size / (mean + size), size, count + 1);
}

/** Practically a Poisson distribution; zero would divide by it. */
const leastDispersion = 1e-6;

/** The regularized incomplete beta function, by its continued fraction (NIST DLMF 8.17.22). */
function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on one side of the mean only.
  return x > (a + 1) / (a + b + 2) ? 1 - expanded(1 - x, b, a) : expanded(x, a, b);
}

function expanded(x: number, a: number, b: number): number {
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return (front / a) * fraction(x, a, b);
}

const termsMax = 100_000;
const tiny = 1e-300;

/** By the modified method of Lentz. */
function fraction(x: number, a: number, b: number): number {
  const safe = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / safe(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= termsMax; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 / safe(1 + term * d);
      c = safe(1 + term / c);
      result *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-12) break;
  }
  return result;
}

/** Stirling's series, for arguments above zero. */
function logGamma(value: number): number {
  let shift = 0;
  let x = value;
  for (; x < 10; x++) shift += Math.log(x);
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x;
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - shift;
}
