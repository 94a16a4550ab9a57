"""Chi2-max and *ltc* counted cell by cell. Nothing here is shared with the package."""

from math import log, sqrt


def chi_squared(has_term, in_category):
    """Sum of (observed - expected)^2 / expected over the four cells of the table.

    0 where a row or a column of the table is empty.
    """
    n, total = len(has_term), 0.0
    for term in (False, True):
        for category in (False, True):
            pairs = zip(has_term, in_category, strict=True)
            observed = sum(bool(t) == term and bool(c) == category for t, c in pairs)
            rows = sum(bool(t) == term for t in has_term)
            columns = sum(bool(c) == category for c in in_category)
            if rows == 0 or columns == 0:
                return 0.0
            expected = rows * columns / n
            total += (observed - expected) ** 2 / expected
    return total


def chi_squared_max(counts, member):
    """Each term's largest statistic, and the statistics of all categories."""
    n_terms, n_categories = len(counts[0]), len(member[0])
    table = [
        [
            chi_squared([row[t] > 0 for row in counts], [row[c] for row in member])
            for t in range(n_terms)
        ]
        for c in range(n_categories)
    ]
    return [max(column) for column in zip(*table, strict=True)], table


def k_best(scores, k):
    """Indices of the k largest scores, the lower index first where they are equal."""
    order = sorted(range(len(scores)), key=lambda t: (-scores[t], t))
    return sorted(order[:k])


def ltc(counts, fitted, base=2, cosine=True):
    """Weights of documents, by how many of the ``fitted`` ones each term is in."""
    n, weights = len(fitted), []
    for row in counts:
        document = []
        for t, count in enumerate(row):
            holders = sum(other[t] > 0 for other in fitted)
            known = count > 0 and holders > 0
            document.append((1 + log(count, base)) * log(n / holders, base) if known else 0.0)
        length = sqrt(sum(w * w for w in document))
        weights.append([w / length for w in document] if cosine and length > 0 else document)
    return weights
