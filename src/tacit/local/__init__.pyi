"""What `tacit.local` offers, for editors and type checkers; a test keeps it equal to `__init__.py`."""

from tacit.local.advice import Advice as Advice
from tacit.local.advice import best_frequencies as best_frequencies
from tacit.local.categories.attributes import Sample as Sample
from tacit.local.categories.attributes import Split as Split
from tacit.local.categories.estimates import FrequencyEstimate as FrequencyEstimate
from tacit.local.categories.estimates import Projection as Projection
from tacit.local.categories.hadamard import HadamardResponse as HadamardResponse
from tacit.local.categories.hashing import LocalHashing as LocalHashing
from tacit.local.categories.kary import KaryResponse as KaryResponse
from tacit.local.categories.prefix_tree import HeavyHitter as HeavyHitter
from tacit.local.categories.prefix_tree import HeavyHitters as HeavyHitters
from tacit.local.categories.prefix_tree import PrefixTree as PrefixTree
from tacit.local.categories.rappor import Rappor as Rappor
from tacit.local.categories.sketch import CountMeanSketch as CountMeanSketch
from tacit.local.categories.subset import SubsetSelection as SubsetSelection
from tacit.local.categories.unary import UnaryEncoding as UnaryEncoding
from tacit.local.memoised import Memoised as Memoised
from tacit.local.memoised import MemoisedDevice as MemoisedDevice
from tacit.local.numeric.duchi import Duchi as Duchi
from tacit.local.numeric.hybrid import Hybrid as Hybrid
from tacit.local.numeric.numbers import MeanEstimate as MeanEstimate
from tacit.local.numeric.piecewise import Piecewise as Piecewise
from tacit.local.numeric.ranges import RangeEstimate as RangeEstimate
from tacit.local.numeric.ranges import RangeTree as RangeTree
from tacit.local.numeric.square_wave import DistributionEstimate as DistributionEstimate
from tacit.local.numeric.square_wave import SquareWave as SquareWave
from tacit.local.protocol import Analyser as Analyser
from tacit.local.protocol import Randomizer as Randomizer
from tacit.local.shuffle.amplification import BlanketShuffled as BlanketShuffled
from tacit.local.shuffle.amplification import amplified as amplified
from tacit.local.shuffle.amplification import largest_epsilon0 as largest_epsilon0
from tacit.local.shuffle.binary_sum import BinarySum as BinarySum
from tacit.local.shuffle.binary_sum import CountEstimate as CountEstimate
from tacit.local.shuffle.binary_sum import ShuffledHistogram as ShuffledHistogram
from tacit.local.shuffle.blanket import Blanket as Blanket
from tacit.local.shuffle.shuffled_frequencies import SharesOf as SharesOf
from tacit.local.shuffle.shuffled_frequencies import ShuffledFrequencies as ShuffledFrequencies
from tacit.local.shuffle.shuffled_sum import ShuffledSum as ShuffledSum
from tacit.local.shuffle.shuffled_sum import SumEstimate as SumEstimate
from tacit.local.shuffle.shuffler import Shuffler as Shuffler

__all__: list[str]
