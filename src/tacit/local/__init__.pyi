"""What `tacit.local` offers, for editors and type checkers; a test keeps it equal to `__init__.py`."""

from tacit.local.advice import Advice as Advice
from tacit.local.advice import best_frequencies as best_frequencies
from tacit.local.amplification import BlanketShuffled as BlanketShuffled
from tacit.local.amplification import amplified as amplified
from tacit.local.amplification import largest_epsilon0 as largest_epsilon0
from tacit.local.attributes import Sample as Sample
from tacit.local.attributes import Split as Split
from tacit.local.binary_sum import BinarySum as BinarySum
from tacit.local.binary_sum import CountEstimate as CountEstimate
from tacit.local.binary_sum import ShuffledHistogram as ShuffledHistogram
from tacit.local.blanket import Blanket as Blanket
from tacit.local.duchi import Duchi as Duchi
from tacit.local.estimates import FrequencyEstimate as FrequencyEstimate
from tacit.local.estimates import Projection as Projection
from tacit.local.hadamard import HadamardResponse as HadamardResponse
from tacit.local.hashing import LocalHashing as LocalHashing
from tacit.local.hybrid import Hybrid as Hybrid
from tacit.local.kary import KaryResponse as KaryResponse
from tacit.local.memoised import Memoised as Memoised
from tacit.local.memoised import MemoisedDevice as MemoisedDevice
from tacit.local.numbers import MeanEstimate as MeanEstimate
from tacit.local.piecewise import Piecewise as Piecewise
from tacit.local.prefix_tree import HeavyHitter as HeavyHitter
from tacit.local.prefix_tree import HeavyHitters as HeavyHitters
from tacit.local.prefix_tree import PrefixTree as PrefixTree
from tacit.local.protocol import Analyser as Analyser
from tacit.local.protocol import Randomizer as Randomizer
from tacit.local.ranges import RangeEstimate as RangeEstimate
from tacit.local.ranges import RangeTree as RangeTree
from tacit.local.rappor import Rappor as Rappor
from tacit.local.shuffled_frequencies import SharesOf as SharesOf
from tacit.local.shuffled_frequencies import ShuffledFrequencies as ShuffledFrequencies
from tacit.local.shuffled_sum import ShuffledSum as ShuffledSum
from tacit.local.shuffled_sum import SumEstimate as SumEstimate
from tacit.local.shuffler import Shuffler as Shuffler
from tacit.local.sketch import CountMeanSketch as CountMeanSketch
from tacit.local.square_wave import DistributionEstimate as DistributionEstimate
from tacit.local.square_wave import SquareWave as SquareWave
from tacit.local.subset import SubsetSelection as SubsetSelection
from tacit.local.unary import UnaryEncoding as UnaryEncoding

__all__: list[str]
